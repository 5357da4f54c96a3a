"""Who may use the API, and what each caller may do."""
