"""Sign-in for browsers: its pages, cookies and texts.

Entry: `sign_in_pages.SignIn`.
Imports: core, storage, api.
"""
