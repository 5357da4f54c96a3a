"""The contracts of inbound connectors that receivers work: data, without a library of a protocol.

Entry: `http_polling`, `email`.
Imports: nothing of ours.
"""
