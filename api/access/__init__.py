"""Access to the API: authentication of callers, and their permissions."""
