"""What screens are made of: data in, messages out, no service calls."""
