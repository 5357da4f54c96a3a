"""The HTTP client: what it asks for, and what it makes of answers and silences."""

import json
import ssl
from unittest import mock

import httpx
import pytest

from vivero.client.rest import ApiError, BadAddress, Client, ClientError, Unreachable, address_from, normalised

PAGE = {"totalItems": 5, "hasMoreTotalItems": False, "startCursor": "YQ==", "endCursor": "Yg=="}


@pytest.fixture
def asked():
    return []


@pytest.fixture
def client_of(asked):
    """A client whose server is a function from request to response."""

    def make(serve):
        def handle(request):
            asked.append(request)
            return serve(request)

        return Client("http://server:1", transport=httpx.MockTransport(handle))

    return make


def answering(status, document=None, **headers):
    def serve(_request):
        return httpx.Response(status, json=document, headers={k.replace("_", "-"): v for k, v in headers.items()})

    return serve


@pytest.mark.parametrize(
    ("given", "address"),
    [
        ("http://localhost:8080", "http://localhost:8080"),
        ("http://localhost:8080/", "http://localhost:8080"),
        ("http://localhost:8080/v2", "http://localhost:8080"),
        ("http://localhost:8080/v2/", "http://localhost:8080"),
        ("https://vivero.example/engine/v2", "https://vivero.example/engine"),
        ("localhost:8080", "http://localhost:8080"),
        ("localhost", "http://localhost"),
        ("[::1]:8080", "http://[::1]:8080"),
        ("HTTP://Example:80", "http://example:80"),
    ],
)
def test_addresses_are_understood_in_the_usual_spellings(given, address):
    assert normalised(given) == address


@pytest.mark.parametrize("given", ["ftp://x", "http://", "http://x:port", "http://x:99999", "unix:///run/x"])
def test_what_is_no_address(given):
    with pytest.raises(BadAddress, match="is not a valid server address"):
        normalised(given)


@pytest.mark.parametrize(
    ("given", "environment", "address"),
    [
        (None, {}, "http://localhost:8080"),
        (None, {"CAMUNDA_REST_ADDRESS": "c:1"}, "http://c:1"),
        (None, {"CAMUNDA_REST_ADDRESS": "c:1", "VIVERO_ADDRESS": "v:2"}, "http://v:2"),
        ("g:3", {"CAMUNDA_REST_ADDRESS": "c:1", "VIVERO_ADDRESS": "v:2"}, "http://g:3"),
        (None, {"VIVERO_ADDRESS": ""}, "http://localhost:8080"),
    ],
)
def test_the_nearest_address_counts(given, environment, address):
    assert address_from(given, environment) == address


async def test_a_creation(client_of, asked):
    client = client_of(answering(200, {"processInstanceKey": "7"}))
    answer = await client.create("order", {"a": 1}, version=2, business_id="b", tags=["t"], await_s=1.5)
    assert answer == {"processInstanceKey": "7"}
    assert (asked[0].method, asked[0].url.path) == ("POST", "/v2/process-instances")
    assert json.loads(asked[0].content) == {
        "processDefinitionId": "order",
        "variables": {"a": 1},
        "processDefinitionVersion": 2,
        "businessId": "b",
        "tags": ["t"],
        "awaitCompletion": True,
        "requestTimeout": 1500,
    }


async def test_a_deployment_is_multipart(client_of, asked, tmp_path):
    file = tmp_path / "a.bpmn"
    file.write_bytes(b"<xml/>")
    await client_of(answering(200, {"deployments": []})).deploy([file])
    assert asked[0].headers["content-type"].startswith("multipart/form-data")
    assert b'name="resources"; filename="a.bpmn"' in asked[0].content
    assert b"<xml/>" in asked[0].content


async def test_a_position_comes_with_the_answer(client_of):
    answer = await client_of(answering(204, command_position="12")).cancel("1")
    assert (answer.status, answer.body, answer.position) == (204, None, 12)


async def test_a_problem_is_one_line(client_of):
    problem = {"type": "about:blank", "title": "NOT_FOUND", "status": 404, "detail": "no such", "instance": "/x"}
    with pytest.raises(ApiError) as caught:
        await client_of(answering(404, problem, command_position="3")).resolve("1")
    assert str(caught.value) == "no such (404 NOT_FOUND)"
    assert (caught.value.status, caught.value.title, caught.value.position) == (404, "NOT_FOUND", 3)


async def test_an_error_that_is_no_problem_is_one_line(client_of):
    client = client_of(lambda _request: httpx.Response(502, text="<html>Bad gateway</html>"))
    with pytest.raises(ApiError) as caught:
        await client.topology()
    assert str(caught.value) == "Bad Gateway (502 Bad Gateway)"


async def test_an_answer_that_is_no_json(client_of):
    client = client_of(lambda _request: httpx.Response(200, text="<html>Hello</html>"))
    with pytest.raises(ClientError, match="is not JSON: is it a Vivero server"):
        await client.topology()


async def test_nobody_answers(client_of):
    def refuse(request):
        raise httpx.ConnectError("connection refused", request=request)

    with pytest.raises(Unreachable, match=r"no server answers at http://server:1 \(connection refused\)") as caught:
        await client_of(refuse).topology()
    assert not caught.value.in_doubt


async def test_an_answer_that_is_cut_off_is_in_doubt(client_of):
    def cut(request):
        raise httpx.ReadTimeout("", request=request)

    with pytest.raises(Unreachable, match="did not answer: ReadTimeout") as caught:
        await client_of(cut).topology()
    assert caught.value.in_doubt


async def test_health(client_of):
    assert await client_of(answering(204)).healthy()
    assert not await client_of(answering(503, {"title": "UNAVAILABLE", "detail": "x"})).healthy()
    with pytest.raises(ApiError):
        await client_of(answering(500, {"title": "INTERNAL", "detail": "x"})).healthy()


async def test_everything_is_read_page_by_page(client_of, asked):
    pages = iter([["a", "b"], ["c", "d"], ["e"]])

    def serve(_request):
        names = next(pages)
        return httpx.Response(
            200, json={"items": [{"name": name} for name in names], "page": PAGE | {"endCursor": names[-1]}}
        )

    found = [item["name"] async for item in client_of(serve).search_all("variables", {"x": 1}, limit=2, sort="name")]
    assert found == list("abcde")
    bodies = [json.loads(request.content) for request in asked]
    assert [body["page"] for body in bodies] == [{"limit": 2}, {"limit": 2, "after": "b"}, {"limit": 2, "after": "d"}]
    assert all(body["filter"] == {"x": 1} and body["sort"] == [{"field": "name", "order": "ASC"}] for body in bodies)


async def test_a_server_that_ignores_its_cursor_is_not_asked_for_ever(client_of, asked):
    items = [{"name": "a"}, {"name": "b"}]
    every = client_of(answering(200, {"items": items, "page": PAGE})).search_all("variables", limit=2)
    assert [await anext(every) for _ in items] == items
    with pytest.raises(ClientError, match="repeats the last page"):
        await anext(every)
    assert len(asked) == 2


async def test_a_trace_that_repeats_a_page_is_not_followed_for_ever(client_of, asked):
    pages = iter([7, 9, 7, 9])
    trace = client_of(lambda _request: httpx.Response(200, json={"items": [], "next": next(pages)})).trace("5")
    with pytest.raises(ClientError, match="repeats the page '7'"):
        await anext(trace)
    assert len(asked) == 3


@pytest.mark.parametrize(("retries", "updates", "positions"), [(0, 1, [2, 4, 5]), (2, 0, [2, 4])])
async def test_repairing_gives_retries_only_to_a_job_without(client_of, asked, retries, updates, positions):
    incident = {"elementInstanceKey": "5", "jobKey": "6"}

    def serve(request):
        if request.method == "GET":
            return httpx.Response(200, json=incident)
        if request.url.path.endswith("/search"):
            return httpx.Response(200, json={"items": [{"retries": retries}], "page": PAGE})
        return httpx.Response(204, headers={"command-position": str(len(asked))})

    assert await client_of(serve).repair("9", {"card": 1}) == positions
    did = [(request.method, request.url.path) for request in asked]
    assert did.count(("PATCH", "/v2/jobs/6")) == updates
    assert did[1] == ("PUT", "/v2/element-instances/5/variables")
    assert did[-1] == ("POST", "/v2/incidents/9/resolution")


@pytest.mark.parametrize(("address", "trusts"), [("localhost:1", False), ("127.0.0.1:1", False), ("server:1", True)])
def test_a_proxy_is_not_asked_for_the_loopback(address, trusts):
    assert Client(address)._http.trust_env is trusts


@pytest.mark.parametrize(("address", "reads"), [("http://server:1", False), ("https://server:1", True)])
def test_certificates_are_read_only_for_tls(monkeypatch, address, reads):
    read = mock.Mock(side_effect=ssl.create_default_context)
    monkeypatch.setattr(ssl, "create_default_context", read)
    Client(address)
    assert read.called is reads


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"[]", "is not a JSON object"),
        (b"5", "is not a JSON object"),
        (b"", "the answer is empty"),
        (b"{}", "the answer has no 'items'"),
        (b'{"items": null, "page": {}}', "the answer has no list of objects"),
        (b'{"items": [1], "page": {}}', "the answer has no list of objects"),
        (b'{"items": [], "page": null}', "the answer has no page"),
        (b'{"items": []}', "the answer has no 'page'"),
        (b'{"items": [], "page": {}}', "the answer has no 'totalItems'"),
        (b"<html>", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"\xff\xfe", "is not JSON"),
    ],
)
async def test_answers_of_other_programs_are_one_line(client_of, content, said):
    async with client_of(lambda _: httpx.Response(200, content=content)) as client:
        with pytest.raises(ClientError, match=said) as raised:
            await client.search("jobs")
    assert "is it a Vivero server?" in str(raised.value)


async def test_a_number_beyond_a_double_keeps_its_digits(client_of):
    """The engine computes with 34 digits, and a command of a worker reads what the client writes again."""
    client = client_of(lambda _request: httpx.Response(200, content=b'{"a": 1.25E+400, "b": 1.5, "c": 1E-400}'))
    answer = await client.request("GET", "/v2/topology")
    assert json.loads(json.dumps(answer.document)) == {"a": 125 * 10**398, "b": 1.5, "c": 0.0}
    client = client_of(lambda _request: httpx.Response(200, content=b'{"a": 1E+6000}'))
    with pytest.raises(ClientError, match=r"a number with more than 4000 digits: 1E\+6000"):
        await client.request("GET", "/v2/topology")
