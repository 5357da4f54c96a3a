"""Problem details (RFC 9457) for what the server itself refuses, all five members present as API clients need them."""

import json

# Titles as the REST API names them: clients retry a 503 only with exactly this title.
TITLES = {
    400: "Bad Request",
    408: "Request Timeout",
    413: "Content Too Large",
    414: "URI Too Long",
    417: "Expectation Failed",
    431: "Request Header Fields Too Large",
    500: "INTERNAL",
    501: "Not Implemented",
    503: "RESOURCE_EXHAUSTED",
    505: "HTTP Version Not Supported",
}


# When to come again after a 503 (RFC 9110 section 10.2.3).
RETRY_AFTER = b"1"


class Refusal(Exception):
    """A request that the server answers itself, without the application: its status and what was wrong."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail


def problem_body(status: int, detail: str, instance: str) -> bytes:
    """The JSON document for a status in `TITLES`; `instance` is the path of the request, as far as it is known."""
    title = TITLES[status]
    document = {"type": "about:blank", "title": title, "status": status, "detail": detail, "instance": instance or "/"}
    return json.dumps(document).encode()
