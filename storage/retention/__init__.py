"""The end of data: deletion of ended trees, files of the archive, erasure of persons, backups.

Entry: `history`, `archives`, `erasure`.
Imports: core, access, postgres, schema, state.
"""
