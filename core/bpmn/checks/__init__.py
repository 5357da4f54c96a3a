"""Problems that only several elements together can have. Each check examines the whole draft.

Entry: `validate.validate`.
Imports: elements, event_definitions, feel, reading.
"""
