"""Every service of a home, built once and handed out."""
