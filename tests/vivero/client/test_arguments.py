"""Arguments that cannot be sent, redirects, and requests that only name what they are about."""

import json
import math

import httpx
import pytest

from vivero.client import ClientError, NotAllowed, NotSendable, Unreachable, ViveroClient

TOKEN = "s3cr3t"
MARKED = "/v2/process-instances?redirected-by-vivero=true"
CREATED = {
    "processInstanceKey": "7",
    "processDefinitionId": "order",
    "processDefinitionVersion": 1,
    "processDefinitionKey": "6",
    "tenantId": "<default>",
}


@pytest.fixture
def client_of():
    """A client whose server gives these answers, and the requests that it gets."""

    def make(*answers, **options):
        left, got = list(answers), []

        def handle(request):
            got.append(request)
            answer = left.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

        transport = httpx.MockTransport(handle)
        return ViveroClient("http://one:8080", credentials=TOKEN, transport=transport, **options), got

    return make


@pytest.mark.parametrize(
    ("send", "said"),
    [
        (lambda client: client.deploy(5), r"a file to deploy must be a path, or \(name, bytes\), not 5"),
        (lambda client: client.deploy(("a.bpmn", "text")), "a file to deploy must be"),
        (lambda client: client.publish("m", "", time_to_live_s=math.inf), "time_to_live_s must be a number of seconds"),
        (lambda client: client.publish("m", "", time_to_live_s="1"), "time_to_live_s must be .* not '1'"),
        (lambda client: client.start("order", tags=5), "tags must be a list of texts, not 5"),
        (lambda client: client.start("order", tags="a"), "tags must be a list of texts, not 'a'"),
        (lambda client: client.start("order", before={"a": 1}), "before must be a list"),
        (lambda client: client.modify("7", move=["a", "b"]), "move must be a mapping"),
        (lambda client: client.modify("7", activate=None), "activate must be a list of texts, not None"),
        (lambda client: client.migrate("7", "8", [("a", "b")]), "mappings must be a mapping"),
        (lambda client: client.move_all(["a"], process="order"), "moves must be a mapping"),
        (lambda client: client.cancel(None), "None is no key"),
        (lambda client: client.update("7", candidate_users=5), "candidate_users must be a list"),
    ],
)
def test_a_wrong_argument_is_named_and_nothing_is_sent(client_of, send, said):
    client, got = client_of()
    with pytest.raises(NotSendable, match=said):
        send(client)
    assert got == []


@pytest.mark.parametrize(
    ("location", "nodes", "target"),
    [
        (f"http://two:8080{MARKED}", ["two:8080"], f"http://two:8080{MARKED}"),
        (f"http://two:8080{MARKED}", [], f"http://one:8080{MARKED}"),
        (f"http://two:8080{MARKED}", ["two:808"], f"http://one:8080{MARKED}"),
        (f"https://two:8080{MARKED}", ["two:8080"], f"http://one:8080{MARKED}"),
        (f"http://evil@two:8080{MARKED}", ["two:8080"], f"http://one:8080{MARKED}"),
        (f"//two:8080{MARKED}", ["two:8080"], f"http://one:8080{MARKED}"),
    ],
)
def test_a_redirect_is_followed_to_nodes_of_the_cluster_and_carried_out_here_otherwise(
    client_of, location, nodes, target
):
    """The token goes to no other host: with the mark of the redirect, this node does it itself."""
    away = httpx.Response(307, headers={"location": location}, json={"title": "TEMPORARY_REDIRECT", "status": 307})
    client, got = client_of(away, httpx.Response(200, json=CREATED), nodes=nodes)
    assert client.start("order", x=1).key == "7"
    first, second = got
    assert str(second.url) == target
    assert second.content == first.content
    assert second.headers["idempotency-key"] == first.headers["idempotency-key"]
    assert second.headers["authorization"] == f"Bearer {TOKEN}"


def test_a_node_that_is_away_is_named(client_of):
    """The redirect leads there, and this node could not know."""
    away = httpx.Response(307, headers={"location": f"http://two:8080{MARKED}"}, json={"title": "T", "status": 307})
    client, _ = client_of(away, httpx.ConnectError("refused"), nodes=["two:8080"], retry_s=0)
    with pytest.raises(Unreachable, match="no server answers at http://two:8080/v2/process-instances"):
        client.start("order")


def test_a_redirect_whose_path_is_an_address_is_not_followed(client_of):
    away = httpx.Response(307, headers={"location": f"x:http://evil:8080{MARKED}"}, json={"title": "T", "status": 307})
    client, got = client_of(away)
    with pytest.raises(ClientError):
        client.start("order")
    assert len(got) == 1


def test_a_request_without_the_permission_is_an_exception_of_its_own(client_of):
    refused = {"title": "FORBIDDEN", "status": 403, "detail": "needs UPDATE_PROCESS_INSTANCE"}
    client, _ = client_of(httpx.Response(403, json=refused), httpx.Response(401, json={**refused, "status": 401}))
    for status in (403, 401):
        with pytest.raises(NotAllowed, match="needs UPDATE_PROCESS_INSTANCE") as caught:
            client.cancel("7")
        assert caught.value.status == status


def test_variables_of_an_instance_are_those_of_any_tenant(client_of):
    """The client's own tenant is not a condition: what has the key is not of another one by mistake."""
    empty = httpx.Response(200, json={"items": [], "page": {"totalItems": 0}})
    client, got = client_of(empty, tenant_id="acme")
    assert client.variables_of("7") == {}
    assert json.loads(got[0].content)["filter"] == {"scopeKey": "7"}


def test_comments_undo_and_queued_commands(client_of):
    comment = {"commentKey": "5", "author": "ada", "text": "paid?", "creationDate": "2027-01-31T03:00:00Z"}
    found = {"items": [comment], "page": {"totalItems": 1}}
    queued = {"id": "9", "state": "REJECTED", "code": "NOT_FOUND", "reason": "no such job"}
    answers = (httpx.Response(201, json={}), httpx.Response(200, json=found), httpx.Response(204))
    client, got = client_of(*answers, httpx.Response(200, json=queued))
    client.comment("4", "paid?")
    assert [(one.author, one.text) for one in client.comments("4")] == [("ada", "paid?")]
    client.undo("7")
    assert client.queued(9).reason == "no such job"
    assert [(request.method, request.url.path) for request in got] == [
        ("POST", "/v2/user-tasks/4/comments"),
        ("POST", "/v2/user-tasks/4/comments/search"),
        ("POST", "/v2/process-instances/7/undo"),
        ("GET", "/queued-commands/9"),
    ]
