"""Text to a syntax tree: the lexer, the tree, and a rule for each construct. `parser` is the table of contents.

Entry: `parser`, `ast`.
Imports: temporal.
"""
