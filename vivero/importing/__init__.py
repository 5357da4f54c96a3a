"""Definitions and running process instances of a Camunda 8, copied through its public API (docs/from-camunda-8.md).

Entry: `camunda8.run`.
Imports: core, client.
"""
