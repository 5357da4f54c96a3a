"""Request to handler to response, whatever the resource: routing, decoding, problems, limits, metrics.

Entry: `router.Router`, `request.Request`, `decoding`.
Imports: core, storage, engine, callers, http1.
"""
