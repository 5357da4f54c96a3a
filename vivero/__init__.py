"""The program: what runs on a node, how it starts and stops, settings, the command line, pages, and the library.

Entry: `node.tree.build`, `program.program.up`, `cli.main`.
Imports: engine.
"""
