"""Requests and records of cluster variables, members, documents and counts, as data."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import Any, Literal, get_args
from urllib.parse import urlencode

import msgspec

from vivero.client.answers import NotSendable
from vivero.client.rest import path_part
from vivero.client.typed import requests
from vivero.client.typed.requests import ApiRequest, texts
from vivero.client.values import decoded, encoded

Container = Literal["tenants", "groups", "roles"]
MemberKind = Literal["users", "clients", "groups", "roles", "mapping_rules"]


class Member(msgspec.Struct, rename="camel", frozen=True):
    """A member of a tenant, a group or a role: `id`, and the name of its kind of id."""

    username: str | None = None
    client_id: str | None = None
    group_id: str | None = None
    role_id: str | None = None
    mapping_rule_id: str | None = None
    name: str | None = None

    @property
    def id(self) -> str:
        ids = self.username, self.client_id, self.group_id, self.role_id, self.mapping_rule_id
        return next(id for id in ids if id is not None)


class ElementCounts(msgspec.Struct, rename="camel", frozen=True):
    """The numbers of instances of one element."""

    element_id: str
    active: int = 0
    incidents: int = 0
    completed: int = 0
    canceled: int = 0


class Counts(msgspec.Struct, frozen=True):
    """The answer with all elements."""

    items: list[ElementCounts]


class StoredDocument(msgspec.Struct, rename="camel", frozen=True):
    """The reference to a document, as forms, connectors and variables have it."""

    document_id: str
    store_id: str
    content_hash: str | None
    metadata: dict[str, Any]
    document_type: str = msgspec.field(name="camunda.document.type", default="camunda")


class _Value(msgspec.Struct):
    value: str


def value_of(answer: bytes) -> Any:
    """The value of a cluster variable, which the answer has as JSON in a text."""
    return decoded(decoded(answer, _Value).value, Any)


def members_path(container: Container, id: str, kind: MemberKind) -> str:
    """Raises NotSendable for what is no container and no kind of members."""
    if container not in get_args(Container) or kind not in get_args(MemberKind):
        raise NotSendable(
            f"{container!r} have no members of the kind {kind!r}: {', '.join(get_args(Container))} have"
            f" {', '.join(get_args(MemberKind))}"
        )
    return f"/v2/{container}/{path_part(id)}/{kind.replace('_', '-')}"


def changes(method: str, container: Container, id: str, members: Mapping[str, Collection[str]]) -> Iterator[ApiRequest]:
    """A request for each member. Raises NotSendable before the first one."""
    paths = {kind: members_path(container, id, kind) for kind in members}  # type: ignore[arg-type]
    ids = {kind: texts(kind, given) for kind, given in members.items()}
    return (
        requests.command(method, f"{paths[kind]}/{path_part(member)}")
        for kind, given in ids.items()
        for member in given
    )


def reading(path: str) -> ApiRequest:
    """A POST that changes nothing."""
    return ApiRequest("POST", path, {}, is_read=True)


def document(
    name: str,
    content: bytes,
    content_type: str,
    expires_at: datetime | None,
    properties: Mapping[str, Any] | None,
    tenant_id: str | None,
) -> ApiRequest:
    """Raises NotSendable."""
    if not isinstance(content, bytes | bytearray):
        raise NotSendable(f"the content of a document must be bytes, not {type(content).__name__}")
    if expires_at is not None and expires_at.tzinfo is None:
        raise NotSendable(f"expires_at: {expires_at} has no time zone")
    given = {
        "fileName": name,
        "contentType": content_type,
        "expiresAt": None if expires_at is None else expires_at.isoformat(),
        "customProperties": None if properties is None else dict(properties),
    }
    metadata = encoded({key: value for key, value in given.items() if value is not None})
    parts = (("file", name, bytes(content), content_type), ("metadata", "", metadata, "application/json"))
    query = "" if tenant_id is None else f"?{urlencode({'tenantId': tenant_id})}"
    return ApiRequest("POST", f"/v2/documents{query}", parts=parts, keeps_no_key=True)


def document_path(given: StoredDocument | Mapping[str, Any] | str, tenant_id: str | None, reads: bool = True) -> str:
    """The path of a document with what its reference says. Raises NotSendable for what is no reference."""
    id: Any
    store: Any
    digest: Any
    if isinstance(given, StoredDocument):
        id, store, digest = given.document_id, given.store_id, given.content_hash
    elif isinstance(given, Mapping):
        id, store, digest = given.get("documentId"), given.get("storeId"), given.get("contentHash")
    else:
        id, store, digest = given, None, None
    if not isinstance(id, str) or not id:
        raise NotSendable(f"{given!r} is neither a reference to a document nor its id")
    asked = {"storeId": store, "contentHash": digest if reads else None, "tenantId": tenant_id}
    query = urlencode({name: value for name, value in asked.items() if value is not None})
    return f"/v2/documents/{path_part(id)}" + (f"?{query}" if query else "")
