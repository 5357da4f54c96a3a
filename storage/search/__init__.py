"""Searches: filters, sorting and pages as SQL; one file for each resource that can be searched."""
