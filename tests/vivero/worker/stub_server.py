"""A server that is a function: it gives out the jobs that wait, and remembers what it is told."""

import json
import re
from collections import deque

import anyio

from vivero.client.rest import ApiError

PATH = re.compile(r"/v2/jobs/(\d+)(?:/(\w+))?")


def job(key, retries=3, type="t", **variables):
    return {
        "jobKey": str(key),
        "type": type,
        "retries": retries,
        "jobLeaseToken": f"lease-{key}",
        "variables": variables or {"n": key},
    }


class StubServer:
    """`trouble` are errors to raise first; `refusals`: job key → the error of each report;
    `trouble_of`: kind of a report → its error."""

    address = "http://stub"

    def __init__(self, *jobs) -> None:
        self.jobs = deque(jobs)
        self.told = []
        self.asked = []
        self.leases = []
        self.trouble = deque()
        self.refusals = {}
        self.trouble_of = {}
        self.headers: dict[str, str] = {}
        self.refused_leases = deque()

    async def topology(self):
        self._stumble()
        return {}

    async def exchange(self, method, path, content, *, headers=None, timeout=None):
        body = json.loads(content)
        if path == "/v2/jobs/activation":
            return await self._activate(body)
        key, what = PATH.fullmatch(path).groups()
        assert body.pop("jobLeaseToken") == f"lease-{key}"
        if method == "PATCH":
            return self._lease(key, body["changeset"]["timeout"])
        self._stumble()
        if what in self.trouble_of:
            raise self.trouble_of[what]
        if key in self.refusals:
            raise self.refusals[key]
        self.headers = dict(headers or {})
        self.told.append((what, key, *_told(what, body)))
        return b"", 10 + len(self.told)

    def _stumble(self):
        if self.trouble:
            raise self.trouble.popleft()

    async def _activate(self, body):
        self._stumble()
        self.asked.append(body)
        mine = [each for each in self.jobs if each["type"] == body["type"]][: body["maxJobsToActivate"]]
        if not mine:
            await anyio.sleep(body["requestTimeout"] / 1000)
        for each in mine:
            self.jobs.remove(each)
        return json.dumps({"jobs": mine}).encode(), None

    def _lease(self, key, timeout_ms):
        self.leases.append((key, timeout_ms))
        if self.refused_leases:
            raise self.refused_leases.popleft()
        if key in self.refusals:
            raise self.refusals[key]
        return b"", None


def _told(what, body):
    if what == "completion":
        return (body["variables"], *([body["result"]] if "result" in body else []))
    if what == "failure":
        return body["errorMessage"], body["retries"], body["retryBackOff"]
    return body["errorCode"], body["errorMessage"], body["variables"]


def refused(status, detail="gone", position=7):
    return ApiError(status, "X", detail, position, {})
