"""Each route of the API has a method of the client, or a reason why it has none."""

import re
from typing import Any

import httpx
import pytest

from tests.client_code import LEFT_OUT, SEARCHES
from vivero.api.routes import ROUTES
from vivero.client import BatchHandle, ClientError, Conflict, InstanceHandle, NotSendable, StoredDocument, ViveroClient

KINDS = ("users", "clients", "groups", "roles", "mapping_rules")
CONTAINERS = {
    "tenants": KINDS,
    "roles": ("users", "clients", "groups", "mapping_rules"),
    "groups": KINDS[:2] + KINDS[4:],
}
MEMBERS = [(container, kind) for container, kinds in CONTAINERS.items() for kind in kinds]
CALLS: dict[str, list[Any]] = {
    "add_members": [lambda c, of=of, kind=kind: c.add_members(of, "x", **{kind: ["m"]}) for of, kind in MEMBERS],
    "remove_members": [lambda c, of=of, kind=kind: c.remove_members(of, "x", **{kind: ["m"]}) for of, kind in MEMBERS],
    "members": [lambda c, of=of, kind=kind: c.members(of, "x", kind).first() for of, kind in MEMBERS],
    "assign": [lambda c: c.assign(7, "ada")],
    "cancel": [lambda c: c.cancel(7), lambda c: c.instance(7).cancel()],
    "cancel_all": [lambda c: c.cancel_all(process="p")],
    "cluster_variable": [lambda c: c.cluster_variable("x")],
    "comment": [lambda c: c.comment(7, "x")],
    "comments": [lambda c: c.comments(7)],
    "complete": [lambda c: c.complete(7)],
    "correlate": [lambda c: c.correlate("m", "k")],
    "counts": [lambda c: c.counts(7)],
    "decide": [lambda c: c.decide("d")],
    "delete_cluster_variable": [lambda c: c.delete_cluster_variable("x")],
    "delete_document": [lambda c: c.delete_document("d")],
    "deploy": [lambda c: c.deploy(("a.bpmn", b"x"))],
    "download": [lambda c: c.download("d")],
    "migrate": [lambda c: c.migrate(7, 8, {"a": "b"})],
    "migrate_all": [lambda c: c.migrate_all(8, {"a": "b"}, process="p")],
    "modify": [lambda c: c.modify(7, activate=["a"])],
    "move_all": [lambda c: c.move_all({"a": "b"}, process="p")],
    "publish": [lambda c: c.publish("m", "k")],
    "queued": [lambda c: c.queued(7)],
    "resolve": [lambda c: c.resolve(7)],
    "resolve_all": [lambda c: c.resolve_all(process="p")],
    "resume": [lambda c: c.resume(7)],
    "resume_all": [lambda c: c.resume_all(process="p")],
    "run": [lambda c: c.run("p", timeout_s=1)],
    "set_cluster_variable": [lambda c: c.set_cluster_variable("x", 1)],
    "set_retries": [lambda c: c.set_retries(7, 1)],
    "set_variables": [lambda c: c.set_variables(7, x=1), lambda c: c.instance(7).set_variables(x=1)],
    "signal": [lambda c: c.signal("s")],
    "start": [lambda c: c.start("p")],
    "suspend": [lambda c: c.suspend(7)],
    "suspend_all": [lambda c: c.suspend_all(process="p")],
    "unassign": [lambda c: c.unassign(7)],
    "undo": [lambda c: c.undo(7)],
    "update": [lambda c: c.update(7, priority=1)],
    "upload": [lambda c: c.upload("a.pdf", b"x")],
    "variables_of": [lambda c: c.variables_of(7)],
    "instance": [lambda c: c.instance(7).get(), lambda c: c.instance(7).result()],
    **{method: [lambda c, method=method: getattr(c, method)().first()] for method, _ in SEARCHES.values()},
}
"""Method → calls of it."""
OF_HANDLES = [
    lambda c: BatchHandle(c, "7").get(),
    lambda c: BatchHandle(c, "7").wait(),
    lambda c: BatchHandle(c, "7").cancel(),
    lambda c: InstanceHandle(c, "7").variables(),
    lambda c: InstanceHandle(c, "7").tasks().first(),
]
NO_REQUESTS = {"close", "request", "send"}
ONCE = "set up once, by the command line or in the console"
OPERATIONS = "operations: the command line has them"
RARE = "rare: `client.request` sends it"
UNTYPED = {
    r".* /(cluster|live|startup|ready|metrics|outbox|webhooks|inbound-connectors|chaos)(/.*)?": OPERATIONS,
    r".* /background-job(s|-types|-consumers)(/.*)?": OPERATIONS,
    r".* /(inbound|mcp)/.*": "other programs call it",
    r".* /v2/(topology|status|license|clock|system|commands)(/.*)?": OPERATIONS,
    r".* /v2/(authentication|setup|saved-views|document-links)(/.*)?": "of the person at a browser",
    r".* /v2/(alert-rules|model-drafts)(/.*)?": "made in the console",
    r".* /v2/(users|groups|roles|tenants)(/\{\w+\}(/sessions.*)?)?": ONCE,
    r".* /v2/(mapping-rules|authorizations|tokens|global-task-listeners)(/\{\w+\})?": ONCE,
    r"POST /v2/groups/\{groupId\}/roles/search": "the other direction of the members of roles",
    r"GET /v2/[\w-]+/\{\w+\}(/xml|/form|/content.*)?": "a search finds it; `client.request` gives the file",
    r"(GET|POST) /v2/[\w-]+/export": "`vivero` writes lists as CSV",
    r".* /v2/.*statistics/.*": "figures of the console",
    r"GET /v2/process-instances/\{\w+\}/(undo|snapshot|events|trace|compensations|agent-calls)": "views of the console",
    r"GET /v2/process-instances/\{\w+\}/(call-hierarchy|sequence-flows)": "views of the console",
    r"POST /v2/[\w-]+/\{\w+\}/(incidents|audit-logs|.*variables|variable-names)/search": "a filter finds the same",
    r"POST /v2/jobs/(activation|\{jobKey\}/(completion|failure|error))": "vivero.worker does it",
    r"POST /v2/(erasures|.*deletion)": "not to be undone: the command line asks first",
    r"POST /v2/(deployments/validation|simulations|expression/evaluation|.*/migration-plan)": "of modellers",
    r"(PATCH|POST) /v2/timers/\{timerKey\}(/trigger)?": OPERATIONS,
    r"POST /v2/batch-operations/\{\w+\}/(suspension|resumption)": RARE,
    r"POST /v2/process-definitions/\{\w+\}/instance-.*": RARE,
    r"POST /v2/(jobs/batch-update|process-instances(/\{\w+\})?/incident-resolution)": RARE,
    r"POST /v2/(conditionals/evaluation|element-instances/ad-hoc-activities/.*)": RARE,
    r"POST /v2/process-instances/\{\w+\}/business-id-assignment": RARE,
    r"POST /v2/documents/(batch|\{documentId\}/links)": RARE,
}
"""Pattern of routes without a method of the client → the reason. `client.request` sends what is rare."""


def asked(calls, answer=None, **options):
    """The requests of calls, whose answers are all refusals unless `answer` gives one."""
    seen = []

    def serve(request):
        seen.append(request)
        found = None if answer is None else answer(request)
        return found or httpx.Response(404, json={"title": "NOT_FOUND"})

    with ViveroClient("http://server", credentials="", transport=httpx.MockTransport(serve), **options) as client:
        for call in calls:
            try:
                call(client)
            except NotSendable:
                raise
            except ClientError:
                continue  # the requests count
    return seen


def route_of(request):
    (found,) = [route for route in ROUTES if route.method == request.method and fits(route.path, request.url.path)][
        :1
    ] or [None]
    assert found is not None, f"{request.method} {request.url.path} is no route"
    return f"{found.method} {found.path}"


def fits(path, given):
    return re.fullmatch(re.sub(r"\\\{\w+\\\}", "[^/]+", re.escape(path)), given) is not None


def test_each_route_has_a_method_or_a_reason():
    methods = {name for name in dir(ViveroClient) if not name.startswith("_")}
    assert methods == set(CALLS) | NO_REQUESTS
    calls = [call for made in CALLS.values() for call in made] + OF_HANDLES
    typed = {route_of(request) for request in asked(calls)}
    typed |= {route_of(request) for request in asked([call for made in CALLS.values() for call in made], tenant_id="t")}
    routes = [f"{route.method} {route.path}" for route in ROUTES]
    without = [route for route in routes if route not in typed and not any(re.fullmatch(one, route) for one in UNTYPED)]
    assert without == [], "give it a method of the client, or a reason"
    stale = [one for one in UNTYPED if not any(re.fullmatch(one, route) for route in routes if route not in typed)]
    assert stale == []
    assert set(LEFT_OUT).isdisjoint(SEARCHES)


def test_a_cluster_variable_is_created_once_and_belongs_to_the_clients_tenant():
    answers = iter([404, 409, 200])

    def answer(_request):
        return httpx.Response(next(answers), json={"title": "ALREADY_EXISTS"})

    sent = asked([lambda c: c.set_cluster_variable("rate", 1)], answer, tenant_id="acme")
    place = "/v2/cluster-variables/tenants/acme"
    assert [(one.method, one.url.path) for one in sent] == [
        ("PUT", f"{place}/rate"), ("POST", place), ("PUT", f"{place}/rate"),
    ]  # fmt: skip
    assert [one.read() for one in sent] == [b'{"value":1}', b'{"name":"rate","value":1}', b'{"value":1}']


def test_members_that_are_there_already_are_no_error_but_other_conflicts_are():
    titles = iter(["ALREADY_EXISTS", "INVALID_STATE"])

    def answer(_request):
        return httpx.Response(409, json={"title": next(titles)})

    def add(client):
        with pytest.raises(Conflict):
            client.add_members("tenants", "a/b", users=["ada"], mapping_rules=["m"])

    sent = asked([add], answer)
    assert [one.url.raw_path for one in sent] == [
        b"/v2/tenants/a%2Fb/users/ada", b"/v2/tenants/a%2Fb/mapping-rules/m",
    ]  # fmt: skip
    with pytest.raises(NotSendable, match="no members of the kind 'user'"):
        asked([lambda c: c.add_members("tenants", "x", users=["ada"], user=["x"])])
    with pytest.raises(NotSendable, match="users must be"):
        asked([lambda c: c.add_members("tenants", "x", users="ada")])


@pytest.mark.parametrize(
    "call",
    [
        lambda c: c.remove_members("tenants", "acme", users=[".."]),
        lambda c: c.remove_members("tenants", "..", roles=["admin"]),
        lambda c: c.delete_document("."),
    ],
)
def test_an_id_never_leads_to_another_route(call):
    """Without its member, the path of a member deletes the tenant."""
    with pytest.raises(NotSendable, match="cannot be a part of a path"):
        asked([call])


def test_a_document_is_sent_with_its_metadata_and_read_by_its_reference():
    reference = {
        "documentId": "d", "storeId": "s", "contentHash": "h", "metadata": {"fileName": "a.pdf"},
        "camunda.document.type": "camunda",
    }  # fmt: skip
    found = []

    def work(client):
        stored = client.upload("a.pdf", b"%PDF", content_type="application/pdf", properties={"of": "ada"})
        found.extend([stored, client.download(stored), client.download(reference)])
        client.delete_document("d")

    def answer(request):
        return httpx.Response(201, json=reference) if request.method == "POST" else httpx.Response(200, content=b"%PDF")

    sent = asked([work], answer, tenant_id="acme")
    assert isinstance(found[0], StoredDocument)
    assert (found[0].document_id, found[1:]) == ("d", [b"%PDF", b"%PDF"])
    body = sent[0].read()
    assert b'filename="a.pdf"' in body
    assert b'{"fileName":"a.pdf","contentType":"application/pdf","customProperties":{"of":"ada"}}' in body
    assert "idempotency-key" not in sent[0].headers, "the server keeps no key of an upload"
    assert [str(one.url).removeprefix("http://server/v2/documents") for one in sent] == [
        "?tenantId=acme", *["/d?storeId=s&contentHash=h&tenantId=acme"] * 2, "/d?tenantId=acme",
    ]  # fmt: skip
