"""How Pinfold looks: style sheets and the built-in themes, shipped as data files."""
