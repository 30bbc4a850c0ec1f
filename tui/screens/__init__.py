"""The four screens and the dialogs each owns."""
