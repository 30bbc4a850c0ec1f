"""Changes beside editing: shown first where many rows go, done, logged, and taken back."""
