"""The contracts of inbound connectors that receivers work: data, without a library of a protocol.

Entry: `http_polling`, `email`, `a2a_polling`.
Imports: tool_servers.
"""
