"""Supervision of the children of the program."""
