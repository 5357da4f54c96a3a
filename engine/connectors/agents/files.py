"""Files of the documents in a request to a model: texts as they are, images and PDF as Base64."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from msgspec.structs import replace as with_fields

from vivero.core.agents.errors import UNSUPPORTED_DOCUMENT, AgentError
from vivero.core.agents.memory.context import Content, DocumentContent, FileContent, Message, TextContent, UserMessage
from vivero.core.agents.model import IMAGES, PDF, ModelRequest
from vivero.core.agents.results import MAX_RESULT_CHARACTERS
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.http.charsets import decoded
from vivero.engine.connectors.outbound.documents import CallDocuments, SentFile

MOST_BYTES = 4 * 1024 * 1024
"""All files of a request."""
_TEXTS = ("application/json", "application/xml", "application/yaml", "application/x-yaml")


def has_documents(request: ModelRequest) -> bool:
    """Whether files must be read before a request is sent."""
    return any(isinstance(part, DocumentContent) for message in request.messages for part in _parts(message))


def _parts(message: Message) -> Sequence[Content]:
    return message.content if isinstance(message, UserMessage) else ()


async def with_files(request: ModelRequest, documents: CallDocuments | None, tenant: str) -> ModelRequest:
    """The request with files instead of documents. Raises AgentError, ConnectorError.

    A document of a tool that cannot be read becomes a note for the model; one of a prompt fails the job.
    """
    if documents is None:
        raise AgentError(UNSUPPORTED_DOCUMENT, "documents are not supported here")
    left, messages = MOST_BYTES, list[Message]()
    async with documents.turn():
        for message in request.messages:
            if not isinstance(message, UserMessage):
                messages.append(message)
                continue
            content = list[Content]()
            for part in message.content:
                if isinstance(part, DocumentContent):
                    part, size = await _file(part.document, documents, tenant, left, message.has_documents_of_tools)
                    left -= size
                content.append(part)
            messages.append(with_fields(message, content=content))
    return replace(request, messages=messages)


async def _file(
    document: Any, documents: CallDocuments, tenant: str, most: int, is_of_tool: bool
) -> tuple[Content, int]:
    """The part of a message for a document, and its bytes."""
    try:
        file = await documents.file(document, tenant, most)
        return content_of(file), len(file.content)
    except (AgentError, ConnectorError) as error:
        final = isinstance(error, AgentError) or error.final
        if not (is_of_tool and final):
            raise
        return TextContent(f"(The document cannot be read: {error.message})"), 0


def content_of(file: SentFile) -> Content:
    """A file as a part of a message. Raises AgentError for a type that models do not take."""
    kind = file.content_type.partition(";")[0].strip().lower()
    if kind in (PDF, *IMAGES):
        return FileContent(file.name, kind, base64.b64encode(file.content).decode())
    if kind.startswith("text/") or kind in _TEXTS or kind.endswith(("+json", "+xml", "+yaml")):
        text = decoded(file.content, file.content_type).replace("\0", "\ufffd")
        if len(text) > MAX_RESULT_CHARACTERS:
            text = f"{text[:MAX_RESULT_CHARACTERS]}\n[{len(text) - MAX_RESULT_CHARACTERS} characters were left out]"
        return TextContent(f"{file.name}:\n{text}")
    raise AgentError(UNSUPPORTED_DOCUMENT, f"models take texts, PDF and images, and a document has the type '{kind}'")
