"""One file for each event definition: where it may stand and how it is read. `core.bpmn.events` lists them.

Entry: `kind`.
Imports: feel, reading, texts.
"""
