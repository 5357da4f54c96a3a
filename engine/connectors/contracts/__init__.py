"""The contracts of connectors, one file each. They are data, and import no library of a protocol.

Entry: `http_json`.
Imports: nothing of ours.
"""
