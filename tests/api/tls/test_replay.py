"""Recorded requests of the official client get the same status and body from both servers."""

import pytest
import trio

from tests import plain_http
from tests.api.changed_services import changed
from tests.api.conftest import FakeEngine
from tests.api.official import models, sdk
from vivero.api import app as api_app
from vivero.api.http.request import WHOLE_BODY
from vivero.api.http1.settings import ServerSettings
from vivero.api.serving.server import Endpoint, open_listeners
from vivero.api.serving.server import serve as serve_http1
from vivero.core.records.effects import Rejection, RejectionCode

LEFT_OUT = (b"host", b"connection", b"accept-encoding")
"""Headers of the connection. The rest is sent again as it was."""


class Recorder:
    """Notes the requests to an application."""

    def __init__(self, app) -> None:
        self.app, self.requests = app, []

    async def __call__(self, scope, receive, send) -> None:
        body = b""

        async def noted():
            nonlocal body
            message = await receive()
            body += message.get("body", b"")
            return message

        extensions = {name: each for name, each in scope["extensions"].items() if name != WHOLE_BODY}
        await self.app({**scope, "extensions": extensions}, noted, send)
        target = scope["raw_path"] + (b"?" + scope["query_string"] if scope["query_string"] else b"")
        headers = [pair for pair in scope["headers"] if pair[0] not in LEFT_OUT]
        self.requests.append((scope["method"], target, headers, body))


def use(client):
    """Reads, writes, searches, an upload, and errors."""
    client.get_topology()
    client.get_license()
    client.get_authentication()
    client.search_process_instances(data=models.ProcessInstanceSearchQuery())
    client.search_jobs(data=models.JobSearchQuery())
    client.search_variables(data=models.VariableSearchQuery())
    message = models.MessagePublicationRequest(name="paid", correlation_key="ü-1")
    for call in (
        lambda: client.publish_message(data=message),
        lambda: client.create_process_instance(data=models.ProcessCreationById(process_definition_id="order")),
        lambda: client.get_process_instance(process_instance_key="2251799813685249"),
        lambda: client.get_variable(variable_key="7"),
        lambda: client.deploy_resources_from_files([__file__]),
    ):
        with pytest.raises(Exception, match=r"4\d\d"):
            call()


@pytest.fixture
def make_app(stored):
    """The same state for each server: the rows of this test, and an engine that has done nothing."""

    def make():
        engine = FakeEngine()
        engine.rejection = Rejection(RejectionCode.NOT_FOUND, "there is none: \u00fc")
        return api_app.build(changed(stored, appender=engine, completions=engine))

    return make


@pytest.fixture
async def plain():
    """Starts our own server; gives its port."""
    drain = trio.Event()

    async def serve_plain(app, listeners):
        settings = ServerSettings(drain_grace_s=0.1)
        await serve_http1(app, Endpoint(listeners), settings=settings, drain=drain, beat=lambda: None)
        for listener in listeners:
            await listener.aclose()

    async def start(app):
        listeners = await open_listeners("127.0.0.1", 0)
        nursery.start_soon(serve_plain, app, listeners)
        return listeners[0].socket.getsockname()[1]

    async with trio.open_nursery() as nursery:
        yield start
        drain.set()


async def replay(client, requests):
    answers = []
    for method, target, headers, body in requests:
        request = client.build_request(method, "/", content=body, headers=headers)
        request.extensions["target"] = target
        answer = await client.send(request)
        kept = {name: answer.headers.get(name) for name in ("content-type", "command-position", "retry-after", "allow")}
        answers.append((method, target, answer.status_code, kept, answer.content))
    return answers


async def test_both_servers_answer_alike(make_app, plain, serve, monkeypatch):
    recorder = Recorder(make_app())
    monkeypatch.setenv("CAMUNDA_REST_ADDRESS", f"http://127.0.0.1:{await plain(recorder)}")
    monkeypatch.setenv("CAMUNDA_SDK_LOG_LEVEL", "error")

    def run():
        with sdk.CamundaClient() as client:
            use(client)

    with trio.fail_after(60):
        await trio.to_thread.run_sync(run, abandon_on_cancel=True)
    assert len(recorder.requests) >= 10
    async with plain_http.async_client(base_url=f"http://localhost:{await plain(make_app())}") as client:
        expected = await replay(client, recorder.requests)
    assert {200, 404} <= {status for _, _, status, _, _ in expected}
    for http2 in (True, False):
        async with serve(make_app()) as it, it.client(http2) as client:
            assert await replay(client, recorder.requests) == expected
