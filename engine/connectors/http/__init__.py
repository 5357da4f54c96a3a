"""HTTP calls of other systems: checked addresses, bounded answers, credentials, charsets, spans.

Entry: `http_client.HttpClient`, `requests.read_request`, `addresses.AddressPolicy`.
Imports: core, tracing, work.
"""
