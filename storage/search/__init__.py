"""Searches: filters, sorting and pages as statements, and the resources that can be searched."""
