"""Problems that only several elements together can have. Each check examines the whole draft.

Entry: `validate.validate`.
Imports: event_definitions, feel, reading.
"""
