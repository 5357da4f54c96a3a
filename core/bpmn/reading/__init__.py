"""Untrusted XML as a draft: elements, values, expressions, references, and the report of problems.

Entry: `xml.read_document`, `draft.Draft`, `report`.
Imports: feel.
"""
