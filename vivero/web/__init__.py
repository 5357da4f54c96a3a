"""The pages for browsers: the console's files, its stream of hints, and sign-in. A Quart application on Trio.

Entry: `application.build`.
Imports: core, api.
"""
