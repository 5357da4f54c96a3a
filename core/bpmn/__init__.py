"""BPMN: XML in, an immutable executable model or all problems of the file out. Only this package imports lxml.
`events` and `elements.contents` are its tables of contents.

Entry: `parser.parse`, `model`.
Imports: feel.
"""
