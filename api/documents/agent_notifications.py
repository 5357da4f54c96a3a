"""Notifications of agents of other systems (A2A 0.3.0, section 9.5): the task, whose files become documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vivero.api.http.multipart import FormPart
from vivero.engine.connectors.a2a.results import answer_result


class Notification:
    """A task or message as the results of the connector have it. Its files are shown by name until they are stored."""

    def __init__(self) -> None:
        self.result: dict[str, Any] = {}
        self.files: list[FormPart] = []
        self._shown: list[dict[str, Any]] = []

    async def add(self, kind: str, content: bytes, name: str | None) -> Mapping[str, Any]:
        """Keep a file, which has no reference yet."""
        self.files.append(FormPart("file", name or "file", content, kind or None))
        self._shown.append({"fileName": name, "contentType": kind})
        return self._shown[-1]

    def refer(self, references: Sequence[Mapping[str, Any]]) -> None:
        """Show the documents that the files have become."""
        for shown, reference in zip(self._shown, references, strict=True):
            shown.clear()
            shown.update(reference)


async def read_notification(body: Any) -> Notification:
    """The notification in the body of a call. Raises ConnectorError if it is neither a task nor a message."""
    found = Notification()
    found.result = await answer_result(body, found.add)
    return found
