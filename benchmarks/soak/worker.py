"""A worker of a soak, in a process of its own: `python -m benchmarks.soak.worker PORT`. It ends when it is killed."""

from __future__ import annotations

import sys

import anyio

from benchmarks.soak.model import JOB_TYPE
from vivero.worker import JobFailed, Worker

WORK_S = 0.02
LEASE_S = 10.0
"""The jobs of a worker that is killed go to another one after this time."""


def main(port: int) -> None:
    worker = Worker(f"http://127.0.0.1:{port}", credentials="")

    @worker.job(JOB_TYPE, lease_s=LEASE_S)
    async def work(broken: bool = False) -> None:
        await anyio.sleep(WORK_S)
        if broken:
            raise JobFailed("broken, until somebody mends it", retries=0)

    worker.run()


if __name__ == "__main__":
    main(int(sys.argv[1]))
