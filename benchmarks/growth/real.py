"""Real instances: created, activated, and completed or canceled over HTTP by a few clients."""

from __future__ import annotations

import json
import selectors
from collections import deque
from collections.abc import Iterator

import msgspec

from benchmarks.growth.varieties import creation_of, is_canceled, number_of
from benchmarks.http_client import Channel, post
from benchmarks.model import JOB_TYPE

CREATORS, WORKERS, ENDERS = 16, 2, 16
MOST_OPEN = 500
IDLE_S = 30.0
"""Without any answer for so long, the program is taken to hang."""


class _Variables(msgspec.Struct, rename="camel", gc=False):
    order_id: str


class _Job(msgspec.Struct, rename="camel", gc=False):
    job_key: str
    process_instance_key: str
    variables: _Variables


class _Jobs(msgspec.Struct, gc=False):
    jobs: list[_Job]


_jobs = msgspec.json.Decoder(_Jobs).decode


def make(port: int, numbers: range) -> None:
    """Take the instances with these numbers to their ends. The models must be deployed."""
    instances = _Instances(port, numbers)
    try:
        instances.run()
    finally:
        instances.close()


class _Instances:
    def __init__(self, port: int, numbers: range) -> None:
        self._selector = selectors.DefaultSelector()
        self._port, self._numbers, self._total = port, iter(numbers), len(numbers)
        self._created = self._ended = 0
        self._idle = self._channels(CREATORS)
        self._free = self._channels(ENDERS)
        self._waiting: deque[_Job] = deque()

    def _channels(self, count: int) -> deque[Channel]:
        return deque(Channel(self._selector, self._port) for _ in range(count))

    def close(self) -> None:
        for key in list(self._selector.get_map().values()):
            key.data.close()
        self._selector.close()

    def run(self) -> None:
        for channel in self._channels(WORKERS):
            self._activate(channel)
        while self._ended < self._total:
            self._create(self._numbers)
            ready = self._selector.select(IDLE_S)
            if not ready:
                raise RuntimeError(f"no answer for {IDLE_S:g} s after {self._ended} of {self._total} instances")
            for key, _ in ready:
                key.data.readable()

    def _create(self, numbers: Iterator[int]) -> None:
        while self._idle and self._created - self._ended < MOST_OPEN:
            number = next(numbers, None)
            if number is None:
                return
            self._created += 1
            channel = self._idle.popleft()
            request = post("/process-instances", json.dumps(creation_of(number)).encode())
            channel.request(request, lambda status, body, c=channel: self._answered(c, status, body))  # type: ignore[misc]

    def _answered(self, channel: Channel, status: int, body: bytes) -> None:
        if status != 200:
            raise RuntimeError(f"a creation was answered {status}: {body.decode()}")
        self._idle.append(channel)

    def _activate(self, channel: Channel) -> None:
        body = {"type": JOB_TYPE, "timeout": 600_000, "maxJobsToActivate": 32, "worker": "benchmark"}
        request = post("/jobs/activation", json.dumps(body).encode())
        channel.request(request, lambda status, found: self._activated(channel, status, found))

    def _activated(self, channel: Channel, status: int, body: bytes) -> None:
        if status != 200:
            raise RuntimeError(f"an activation was answered {status}: {body.decode()}")
        self._waiting.extend(_jobs(body).jobs)
        self._end_some()
        self._activate(channel)

    def _end_some(self) -> None:
        while self._waiting and self._free:
            job, channel = self._waiting.popleft(), self._free.popleft()
            if is_canceled(number_of(job.variables.order_id)):
                request = post(f"/process-instances/{job.process_instance_key}/cancellation", b"{}")
            else:
                request = post(f"/jobs/{job.job_key}/completion", b'{"variables":{"done":true}}')
            channel.request(request, lambda status, body, c=channel: self._done(c, status, body))  # type: ignore[misc]

    def _done(self, channel: Channel, status: int, body: bytes) -> None:
        if status != 204:
            raise RuntimeError(f"an end was answered {status}: {body.decode()}")
        self._ended += 1
        self._free.append(channel)
        self._end_some()
