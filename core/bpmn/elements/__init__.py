"""From elements of the file to nodes of the model: the table of all elements, and one reader for each kind of content.

Entry: `contents.ELEMENTS`.
Imports: event_definitions, feel, reading.
"""
