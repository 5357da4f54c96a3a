"""The HTTP session for collectors of traces and metrics: it reads no more of an answer than a collector has to say."""

from __future__ import annotations

import time
from typing import Any

import requests
from urllib3.response import BaseHTTPResponse

MAX_ANSWER_BYTES = 64 * 1024
"""OTLP's answers are a few bytes. A longer one is not read to its end: its status says whether the data arrived."""
READ_S = 5.0
"""The time for reading an answer."""


class CollectorSession(requests.Session):
    """`requests` reads each answer whole into memory. This session reads a bounded part, for the connection to be
    used again, and closes the connection after a longer or slower one."""

    def send(self, request: requests.PreparedRequest, **options: Any) -> requests.Response:
        """The response without its content."""
        response = super().send(request, **options | {"stream": True})
        try:
            _discard(response.raw, MAX_ANSWER_BYTES, time.monotonic() + READ_S)
        finally:
            response.close()
        return response


def _discard(raw: BaseHTTPResponse, most: int, until: float) -> None:
    while most > 0 and time.monotonic() < until:
        part = raw.read1(most, decode_content=False)
        if not part:
            return
        most -= len(part)
