"""Redirects of writes to the node that leads their partition (307), if the setting `api.redirect_to_leader` is on.

Without them, a node appends the command of its client, and the leader's answer comes back by NOTIFY. A redirect saves
that detour for clients that stay at the leader.

A redirected request carries a mark in its query. A request with the mark is never redirected, so there are no loops,
even if leadership moves meanwhile. The mark is no part of the request's fingerprint: an idempotency key means the same
at each node.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vivero.api.http.problems import Problem
from vivero.api.http.request import Request
from vivero.storage.cluster.nodes import ClusterView, Node

MARK = b"redirected-by-vivero=true"
API = "api"
ALL_ADDRESSES = ("", "0.0.0.0", "::")


def without_mark(query: bytes) -> tuple[bytes, bool]:
    """The query without the mark, and whether it had one."""
    if MARK not in query:
        return query, False
    fields = query.split(b"&")
    return b"&".join(field for field in fields if field != MARK), MARK in fields


@dataclass(frozen=True, slots=True)
class Redirects:
    """Knows where to send requests. `node` is this node, `view()` what it saw last of the cluster."""

    node: str
    view: Callable[[], ClusterView]

    def check(self, request: Request, partition: int, *, anywhere: bool) -> None:
        """Raise Problem 307 if another node leads the partition. Nothing is written before.

        `anywhere`: new work that any partition may do. A node that leads one keeps it.
        """
        if request.redirected:
            return
        leader = self._leader(partition, anywhere)
        if leader is None:
            return
        fields = [request.query_string, MARK] if request.query_string else [MARK]
        target = request.target.decode("ascii", "replace")
        location = f"{_address(leader)}{target}?{b'&'.join(fields).decode('latin-1')}"
        detail = f"Node {leader.id} leads partition {partition}; repeat the request at the address in Location"
        raise Problem(307, "TEMPORARY_REDIRECT", detail, (b"location", location.encode("latin-1")))

    def _leader(self, partition: int, anywhere: bool) -> Node | None:
        """The node that clients can be sent to; None if that is this one, or unknown, or without an address."""
        view = self.view()
        leaders = {each.id: each.leader for each in view.partitions}
        name = leaders.get(partition)
        if name in (None, self.node) or (anywhere and self.node in leaders.values()):
            return None
        found = {node.id: node for node in view.nodes}
        leader, own = found.get(name or ""), found.get(self.node)
        if leader is None or not leader.live or API not in leader.roles or _address(leader) is None:
            return None
        return None if own is not None and _address(own) == _address(leader) else leader


def _address(node: Node) -> str | None:
    """The URL of a node without a path. A node of an older version tells none, and has no TLS as far as we know."""
    if node.address is not None or node.host in ALL_ADDRESSES:
        return node.address
    host = f"[{node.host}]" if ":" in node.host else node.host
    return f"http://{host}:{node.port}"
