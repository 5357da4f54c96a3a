"""Cluster variables, members, documents and counts: the part of the client for those who run processes.

`make statements` writes `synchronous_administration.py` from `asynchronous_administration.py`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any

import msgspec

from vivero.client.answers import Conflict, NotFound
from vivero.client.rest import path_part
from vivero.client.typed import administration, requests
from vivero.client.typed.administration import Container, Counts, ElementCounts, Member, MemberKind, StoredDocument
from vivero.client.typed.queries import RecordQuery
from vivero.client.typed.requests import key_of
from vivero.client.typed.synchronous_operations import Operations
from vivero.client.typed.synchronous_paging import Search

DefinitionSubject = msgspec.Struct | str | int


class Administration(Operations):
    """The requests about what all instances share."""

    # ------------------------------------------------------------------------------------------- cluster variables

    def set_cluster_variable(self, name: str, value: Any, *, metadata: Mapping[str, Any] | None = None) -> None:
        """Set a variable that all expressions see: of the client's tenant, or of the whole cluster if it has none."""
        place, body = self._cluster_variables(), {"value": value, "metadata": metadata}
        change = requests.command("PUT", f"{place}/{path_part(name)}", body)
        try:
            self.send(change)
        except NotFound:
            try:
                self.send(requests.command("POST", place, {"name": name, **body}))
            except Conflict:  # somebody else has created it just now
                self.send(change)

    def cluster_variable(self, name: str) -> Any:
        """The value of a cluster variable. Raises NotFound."""
        found = self.send(requests.get(f"{self._cluster_variables()}/{path_part(name)}"))
        return administration.value_of(found)

    def delete_cluster_variable(self, name: str) -> None:
        """Delete a cluster variable: later expressions see null. Raises NotFound."""
        self.send(requests.command("DELETE", f"{self._cluster_variables()}/{path_part(name)}"))

    def _cluster_variables(self) -> str:
        if self.tenant_id is None:
            return "/v2/cluster-variables/global"
        return f"/v2/cluster-variables/tenants/{path_part(self.tenant_id)}"

    # ----------------------------------------------------------------------------------------------------- members

    def members(self, container: Container, id: str, kind: MemberKind) -> Search[Member]:
        """The members of one kind: `client.members("tenants", "acme", "groups")`."""
        path = f"{administration.members_path(container, id, kind)}/search"
        return Search(self.send, RecordQuery(path, Member, {}))

    def add_members(self, container: Container, id: str, **members: Collection[str]) -> None:
        """Add members by their ids: `add_members("tenants", "acme", users=["ada"], groups=["sales"])`.

        The kinds are users, clients, groups, roles and mapping_rules. Those who are members already stay so.
        """
        for request in administration.changes("PUT", container, id, members):
            try:
                self.send(request)
            except Conflict as error:
                if error.title != "ALREADY_EXISTS":
                    raise

    def remove_members(self, container: Container, id: str, **members: Collection[str]) -> None:
        """Remove members by their ids. Raises NotFound for the first one that is none."""
        for request in administration.changes("DELETE", container, id, members):
            self.send(request)

    # --------------------------------------------------------------------------------------------------- documents

    def upload(
        self,
        name: str,
        content: bytes,
        *,
        content_type: str = "application/octet-stream",
        expires_at: datetime | None = None,
        properties: Mapping[str, Any] | None = None,
    ) -> StoredDocument:
        """Store a document. It is a variable's value as it is, for `start(…, contract=document)`."""
        upload = administration.document(name, content, content_type, expires_at, properties, self.tenant_id)
        return self._answer(upload, StoredDocument)

    def download(self, document: StoredDocument | Mapping[str, Any] | str) -> bytes:
        """The content of a document: of a stored one, of a variable with one, or by its id. Raises NotFound."""
        return self.send(requests.get(administration.document_path(document, self.tenant_id)))

    def delete_document(self, document: StoredDocument | Mapping[str, Any] | str) -> None:
        """Delete a document. Raises NotFound."""
        self.send(requests.command("DELETE", administration.document_path(document, self.tenant_id, False)))

    # ------------------------------------------------------------------------------------------------------ counts

    def counts(self, definition: DefinitionSubject) -> list[ElementCounts]:
        """The numbers of instances of each element of a process definition: active, with incidents, ended."""
        key = key_of(definition, "process_definition_key")
        path = f"/v2/process-definitions/{key}/statistics/element-instances"
        return (self._answer(administration.reading(path), Counts)).items
