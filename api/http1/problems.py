"""Problem details (RFC 9457) for requests that the server itself refuses, with all five members for API clients."""

import json

# The titles of the REST API. Clients retry a 503 only if it has this title.
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


# Seconds after which to retry a 503 (RFC 9110 section 10.2.3).
RETRY_AFTER = b"1"


class Refusal(Exception):
    """A request that the server refuses without the application, with status and reason."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail


class UnfinishedAnswer(Exception):
    """The rest of an answer cannot be read. The application has logged why, and the client sees an incomplete body."""


def problem_body(status: int, detail: str, instance: str) -> bytes:
    """The JSON document for a status in `TITLES`. `instance` is the request's path as far as it is known."""
    title = TITLES[status]
    document = {"type": "about:blank", "title": title, "status": status, "detail": detail, "instance": instance or "/"}
    return json.dumps(document).encode()
