"""The requests of docs/workers.md."""

import json
import os
import re
import shutil
import sys
from functools import partial

import pytest
import trio

from tests.operations.tools import ROOT
from vivero.client.rest import Client

GREET = ROOT / "examples" / "first" / "greet.bpmn"
SEEN = ["COMPLETED", "ERROR_THROWN", "FAILED"]


async def test_a_worker_by_hand(program):
    """The requests of docs/workers.md: a job for each way to end it."""
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    page = (ROOT / "docs" / "workers.md").read_text()
    activation, endings = re.findall(r"^```sh\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    await program.restart()
    environment = os.environ | {"SERVER": f"http://localhost:{program.port}"}
    async with Client(environment["SERVER"], credentials="") as client:
        await client.deploy([GREET])
        for line in endings.splitlines():
            await client.create("greet", {"name": "Ada"})
            said = (await trio.run_process(["/bin/sh", "-c", activation], env=environment, capture_stdout=True)).stdout
            (job,) = json.loads(said)["jobs"]
            assert job["variables"] == {"name": "Ada"}
            more = environment | {"KEY": job["jobKey"]}
            answer = await trio.run_process(["/bin/sh", "-c", f"{line} -i"], env=more, capture_stdout=True)
            assert b"HTTP/1.1 204" in answer.stdout, answer.stdout
        states = [item["state"] async for item in client.search_all("jobs")]
    assert sorted(states) == SEEN


@pytest.mark.long
async def test_the_worker_of_the_official_client(program, tmp_path):
    *_, code = re.findall(
        r"^```python\n(.*?)^```", (ROOT / "docs" / "workers.md").read_text(), re.MULTILINE | re.DOTALL
    )
    (tmp_path / "worker.py").write_text(code)
    model = tmp_path / "score.bpmn"
    model.write_text(GREET.read_text().replace('type="greet"', 'type="score"').replace('id="greet"', 'id="score"'))
    await program.restart()
    address = f"http://localhost:{program.port}"
    async with Client(address, credentials="") as client, trio.open_nursery() as nursery:
        await client.deploy([model])
        environment = os.environ | {"CAMUNDA_REST_ADDRESS": address}
        command = [sys.executable, str(tmp_path / "worker.py")]
        nursery.start_soon(partial(trio.run_process, command, env=environment, check=False, capture_stderr=True))
        ended = await client.create("score", {"amount": 140}, await_s=240)
        assert ended["variables"] == {"amount": 140, "score": 70}
        nursery.cancel_scope.cancel()
