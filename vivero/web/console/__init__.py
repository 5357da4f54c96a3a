"""The built console: its files, its pages, and what the browser loads ahead.

Entry: `console_files.ConsoleFiles`, `console_pages`.
Imports: api.
"""
