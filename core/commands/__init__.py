"""One file for each family of commands: the rows that a command needs, and its handler. Handlers may raise `Reject`.

Entry: `instance`, `job`, `message`.
Imports: bpmn, dmn, events, feel, migration, modifications, partitions, records, shared, state.
"""
