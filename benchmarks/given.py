"""The commands that a given server takes in a second. The clients are those of the benchmark `http`.

The server keeps the definition of the process and the ended instances. Open instances are cancelled at the end.
"""

from __future__ import annotations

import base64
import tempfile
from pathlib import Path

import trio

from benchmarks.http import client
from benchmarks.model import ONE_TASK
from vivero.client.rest import Client, Credentials, credentials_from, normalised

WARM_S = 3.0
PROCESS = "measured"


def run(url: str, seconds: float) -> tuple[dict[str, float], dict[str, str]]:
    """Commands and instances a second, and latencies in milliseconds. Raises ClientError: the server takes none."""
    address = normalised(url)
    notes = trio.run(_prepare, address)
    authorization = header(credentials_from())
    try:
        client(0, "service", WARM_S, 0, authorization, url=address)
        found = client(0, "service", seconds, 0, authorization, url=address)
    finally:
        trio.run(_clear, address)
    return {"commands_per_s": commands_per_s(found)} | found, notes


def commands_per_s(figures: dict[str, float]) -> float:
    """Creations and completions: the commands that went through the log."""
    return figures["created_per_s"] + figures["instances_per_s"]


def header(credentials: Credentials | None) -> str:
    """The value of the header `Authorization`; empty without credentials."""
    if isinstance(credentials, tuple):
        return f"Basic {base64.b64encode(':'.join(credentials).encode()).decode()}"
    return f"Bearer {credentials}" if credentials else ""


async def _prepare(address: str) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as directory:
        model = Path(directory) / "measured.bpmn"
        model.write_bytes(ONE_TASK)
        async with Client(address) as server:
            topology = await server.topology()
            await server.deploy([model])
    return {"server": address, "version": topology["gatewayVersion"], "nodes": str(topology["clusterSize"])}


async def _clear(address: str) -> None:
    async with Client(address) as server:
        chosen = {"processDefinitionId": PROCESS, "state": "ACTIVE"}
        await server.create_batch_operation("process-instances/cancellation", chosen)
