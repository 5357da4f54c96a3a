"""A small client of the REST API for the command line and the demonstration. Applications use an official client.

Entry: `rest.Client`.
Imports: api, config.
"""
