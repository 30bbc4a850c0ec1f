"""The tar a workspace is packed in: its compression, its headers, its holes."""
