"""Measures what Pinfold promises, as ratios to a baseline of the same run."""
