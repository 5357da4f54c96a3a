"""Searches: filters, sorting and pages as SQL; one file for each resource that can be searched.

Entry: `statements.statement`, `resources`.
Imports: core, access, background, postgres, state, work.
"""
