"""Wires: the request of a model call and its answer in the JSON of each protocol of providers.

Entry: `table.WIRES`, `providers.read_provider`, `signatures.signed`.
Imports: feel, memory, texts.
"""
