"""What a person sees of Pinfold: the command, the screens and their widgets."""
