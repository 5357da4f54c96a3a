"""How the children of the program are kept running."""
