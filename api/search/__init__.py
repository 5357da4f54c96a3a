"""Search requests: from {filter, sort, page} to a query of the storage, and from its page to {items, page}.

Entry: `search_requests.searching`.
Imports: storage, access, http.
"""
