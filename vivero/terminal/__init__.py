"""Answers of the server for people: tables of any width, the figures of `vivero top`, histories.

Entry: `terminal_tables`, `top`.
Imports: client.
"""
