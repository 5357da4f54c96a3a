"""`python -m vivero`."""

from vivero.cli import main

main()
