"""`pinfold rename`, `delete`, `archives` and `operations`: agents renamed, retired and brought back."""
