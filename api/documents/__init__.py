"""Documents over HTTP: uploads that stream, their metadata, downloads with ranges, and signed links.

Entry: `receiving.receive`, `serving.serve`, `links`.
Imports: storage, engine, access, http.
"""
