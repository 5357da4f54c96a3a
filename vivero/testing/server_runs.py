"""One process instance of a running server in a test: what one in memory does, over the REST API.

An action waits for its outcome. What it leads to may come later, so expectations are looked at again until they hold.
Mocks answer each time when the test looks at the instance.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from vivero import library
from vivero.client import ClientError, ViveroClient
from vivero.client.answers import ApiError
from vivero.client.results import AdHocDecision, Denial
from vivero.client.typed import requests
from vivero.client.typed.outcomes import Deployment
from vivero.client.typed.requests import ApiRequest, command, get
from vivero.core.records.base import Event
from vivero.core.records.instances import ElementActivating, ElementCompleted, ElementTerminated, InstanceCreated
from vivero.library import Instance, Job, Models, Result, UserTask
from vivero.library.result import Happened, new_places, reached
from vivero.testing.instances import Paths, ProcessRun
from vivero.testing.mocks import Mocks, ModelScripts

T = TypeVar("T")

PATIENCE_S = 10.0
"""The time in which what an expectation says, or what an action needs, must come about."""
SUBSCRIBES_S = 1.0
"""The time in which an element begins to wait for a message that the test publishes."""
POLL_S = 0.05


class NotOnServers(Exception):
    """A part of the test kit that needs an instance in memory. The message names another way."""


class ServerRun(ProcessRun):
    """A process instance of a server, by its key."""

    def __init__(
        self,
        client: ViveroClient,
        key: str,
        models: Models,
        mocks: Mocks,
        observe: Callable[[ProcessRun, Result], None],
        with_files: Callable[[Models, Paths], Models],
        deploy: Callable[[Mapping[str, bytes]], Deployment],
    ) -> None:
        self._client = client
        self._deploy = deploy
        self._names: dict[int, str] = {}
        """The ids of elements by key, as they are after migrations."""
        self.key = key
        super().__init__(models, mocks, self._now(), observe, with_files)

    # ---- what works otherwise, or not at all

    def advance(self, by: timedelta | None = None, **duration: float) -> NoReturn:
        """A server has its own clock. Raises NotOnServers."""
        raise NotOnServers(NO_CLOCK)

    def publish(
        self, name: str, correlation_key: str, variables: Mapping[str, Any] = {}, **time_to_live: float
    ) -> ProcessRun:
        __tracebackhide__ = True
        self.look_until(lambda: self.waits_for(name, correlation_key), SUBSCRIBES_S)
        return super().publish(name, correlation_key, variables, **time_to_live)

    def resolve(self, element: str) -> ProcessRun:
        __tracebackhide__ = True
        return self._eventually(lambda: super(ServerRun, self).resolve(element))

    def migrate(
        self, *paths: str | Path, mappings: Mapping[str, str] | None = None, process_id: str | None = None
    ) -> ProcessRun:
        __tracebackhide__ = True
        self._models = self._with_files(self._models, paths)
        named = process_id or self.instance.process_id
        deployed = self._deploy({str(path): self._models.files[str(path)] for path in paths})
        targets = [one for one in deployed.processes if one.process_definition_id == named]
        self._check(bool(targets), f"The models have no process '{named}' to migrate to.")
        target = targets[-1].process_definition_key
        if mappings is None:
            source = self._client.instance(self.key).get().process_definition_key
            path = f"/v2/process-definitions/{source}/migration-plan"
            plan = self._client.request("POST", path, {"targetProcessDefinitionKey": target})
            mappings = {one["sourceElementId"]: one["targetElementId"] for one in plan["mappingInstructions"]}
        self._send(requests.of_instance(self.key, "migration", requests.migration(target, mappings)))
        self._answer()
        return self

    def expect_undo(self) -> NoReturn:
        """Raises NotOnServers."""
        raise NotOnServers("expect_undo looks at an instance in memory: call undo(), which fails if there is none")

    def expect_no_undo(self, containing: str = "") -> NoReturn:
        """Raises NotOnServers."""
        raise NotOnServers("expect_no_undo looks at an instance in memory: leave it out with --vivero-url")

    # ---- expectations, which hold sooner or later

    def expect_active(self, *elements: str) -> ProcessRun:
        __tracebackhide__ = True
        return self._eventually(lambda: super(ServerRun, self).expect_active(*elements))

    def expect_not_active(self, *elements: str) -> ProcessRun:
        __tracebackhide__ = True
        return self._eventually(lambda: super(ServerRun, self).expect_not_active(*elements))

    def expect_completed(self, *elements: str) -> ProcessRun:
        __tracebackhide__ = True
        return self._eventually(lambda: super(ServerRun, self).expect_completed(*elements))

    def expect_path(self, *elements: str) -> ProcessRun:
        __tracebackhide__ = True
        return self._eventually(lambda: super(ServerRun, self).expect_path(*elements))

    def expect_terminated(self) -> ProcessRun:
        __tracebackhide__ = True
        return self._eventually(super().expect_terminated)

    def expect_variables(self, expected: Mapping[str, Any] = {}, **more: Any) -> ProcessRun:
        __tracebackhide__ = True
        return self._eventually(lambda: super(ServerRun, self).expect_variables(expected, **more))

    def expect_incident(self, element: str, containing: str = "") -> ProcessRun:
        __tracebackhide__ = True
        return self._eventually(lambda: super(ServerRun, self).expect_incident(element, containing))

    def expect_no_incidents(self) -> ProcessRun:
        __tracebackhide__ = True
        return self._eventually(super().expect_no_incidents)

    def _job(self, element: str) -> Job:
        __tracebackhide__ = True
        return self._eventually(lambda: super(ServerRun, self)._job(element))

    def _user_task(self, element: str) -> UserTask:
        __tracebackhide__ = True
        return self._eventually(lambda: super(ServerRun, self)._user_task(element))

    # ---- the server

    def waits_for(self, name: str, correlation_key: str) -> bool:
        """Whether an element waits for this message, as far as the test has looked."""
        return any((wait.name, wait.correlation_key) == (name, correlation_key) for wait in self.instance.waits)

    def look(self) -> None:
        """Look at the instance again, and let mocks answer."""
        __tracebackhide__ = True
        self._take(self._now())
        self._answer()

    def look_until(self, holds: Callable[[], bool], patience_s: float = PATIENCE_S) -> None:
        """Look again and again until something holds, or the time is over."""
        until = time.monotonic() + patience_s
        while not holds() and not self.instance.ended and time.monotonic() < until:
            time.sleep(POLL_S)
            self.look()

    def _eventually(self, check: Callable[[], T]) -> T:
        """The result of a check, once it holds. Raises its last AssertionError."""
        __tracebackhide__ = True
        until = time.monotonic() + PATIENCE_S
        while True:
            try:
                return check()
            except AssertionError:
                if self.instance.ended or time.monotonic() >= until:
                    raise
            time.sleep(POLL_S)
            self.look()

    def _step(self, function: Callable[..., Result], *arguments: Any, **options: Any) -> None:
        __tracebackhide__ = True
        self._send(*REQUESTS[function](self, *arguments, **options))

    def _send(self, *given: ApiRequest) -> None:
        """Send requests one after the other, and look at the instance. Raises AssertionError for a refusal."""
        __tracebackhide__ = True
        try:
            for request in given:
                self._client.send(request)
        except ApiError as error:
            self._take(self._now())
            raise AssertionError(f"{error}\n{self.describe()}") from None
        self._take(self._now())

    def _now(self) -> Result:
        """The instance as it is, with everything that has happened in it."""
        text = self._client.send(get(f"/v2/process-instances/{self.key}/snapshot")).decode()
        instance = library.read(text)
        return Result(text, instance.version, instance, self._happened(instance))

    def _happened(self, instance: Instance) -> Happened:
        events = list(self._events())
        places = new_places({}, events)
        self._names |= {element.key: element.id for element in instance.elements}

        def ids(kind: type[ElementCompleted | ElementTerminated]) -> tuple[str, ...]:
            found = (event.key for event in events if isinstance(event, kind))
            return tuple(self._names.get(key, places[key][1]) for key in found)

        return Happened(
            entered=tuple(one.element for one in events if isinstance(one, ElementActivating) and one.type != RESTORED),
            completed=ids(ElementCompleted),
            terminated=ids(ElementTerminated),
            reached=frozenset(reached(places, events)),
            timers=0,
            jobs=instance.jobs,
            incidents=instance.incidents,
            messages=(),  # the server delivers them
            signals=(),
            ended=instance.ended,
        )

    def _events(self) -> Iterator[Event]:
        """The events that tell which elements were reached, oldest first."""
        path, after = f"/v2/process-instances/{self.key}/events", ""
        while True:
            page = json.loads(self._client.send(get(path + after)))
            for item in page["items"]:
                yield from (made for event in item["events"] if (made := _event(event)) is not None)
            if page["next"] is None:
                return
            if after == (after := f"?after={page['next']}"):
                raise ClientError(f"the answer repeats the page '{page['next']}': is it a Vivero server?")

    def _take(self, result: Result) -> None:
        """The events are those of the whole instance."""
        self.completed, self.entered = [], []
        super()._take(result)

    # ---- mocks

    def _work(self, job: Job) -> None:
        __tracebackhide__ = True
        assert self._mocks.workers is not None
        self._mocks.workers.work_at(self._report, job, self.snapshot)
        self._take(self._now())

    def _ask_model(self, models: ModelScripts, job: Job) -> None:
        __tracebackhide__ = True
        models.work_at(self._report, job, self._models, self.snapshot)
        self._take(self._now())

    def _report(self, method: str, path: str, body: Mapping[str, Any]) -> bytes:
        return self._client.send(command(method, path, body))

    def _answer_timer(self) -> bool:
        """The timer fires now: the clock of a server goes on by itself."""
        for timer in self.instance.timers:
            if timer.element in self._mocks.timers and timer.key not in self._answered:
                self._answered.add(timer.key)
                self._send(command("POST", f"/v2/timers/{timer.key}/trigger"))
                return True
        return False


NO_CLOCK = (
    "a test does not move the clock of a server: let timers fire by `processes.mock_timer(element)`, or run this test"
    " without --vivero-url"
)
JOBS = "/v2/jobs"
RESTORED = "restored"
"""The type of an element that an undo begins again: it was entered before."""
Requests = tuple[ApiRequest, ...]


def _event(found: Mapping[str, Any]) -> Event | None:
    """The parts of an event that say where an instance is; None for others."""
    match found["type"]:
        case "InstanceCreated":
            return InstanceCreated(int(found["key"]), 0, found["processId"], 0, None, None, "", None, ())
        case "ElementActivating":
            return ElementActivating(int(found["key"]), int(found["scope"]), found["element"], "")
        case "ElementRestored":
            return ElementActivating(int(found["key"]), int(found["scope"]), found["element"], RESTORED)
        case "ElementCompleted":
            return ElementCompleted(int(found["key"]), tuple(found["flows"]))
        case "ElementTerminated":
            return ElementTerminated(int(found["key"]))
    return None


def _complete(_run: ServerRun, job: int, variables: Mapping[str, Any] = {}) -> Requests:
    return (command("POST", f"{JOBS}/{job}/completion", {"variables": dict(variables)}),)


def _decide(
    _run: ServerRun,
    job: int,
    elements: Mapping[str, Mapping[str, Any]],
    variables: Mapping[str, Any],
    *,
    fulfilled: bool,
    cancel_remaining: bool,
) -> Requests:
    done = AdHocDecision(elements, variables, fulfilled, cancel_remaining).completion()
    return (command("POST", f"{JOBS}/{job}/completion", {"variables": dict(done.variables), "result": done.result}),)


def _activate(_run: ServerRun, scope: int, elements: Mapping[str, Mapping[str, Any]]) -> Requests:
    given = [{"elementId": id, "variables": dict(variables)} for id, variables in elements.items()]
    return (command("POST", f"/v2/element-instances/ad-hoc-activities/{scope}/activation", {"elements": given}),)


def _deny(_run: ServerRun, job: int, reason: str) -> Requests:
    return (command("POST", f"{JOBS}/{job}/completion", {"result": Denial(reason).completion().result}),)


def _fail(
    run: ServerRun, job: int, message: str, *, retries: int | None, retry_after: timedelta = timedelta(0)
) -> Requests:
    known = [one.retries for one in run.instance.jobs if one.key == job]
    left = max(known[0] - 1, 0) if retries is None and known else retries
    body = {"retries": left, "errorMessage": message, "retryBackOff": _ms(retry_after)}
    return (command("POST", f"{JOBS}/{job}/failure", body),)


def _throw_error(_run: ServerRun, job: int, code: str, message: str, variables: Mapping[str, Any]) -> Requests:
    body = {"errorCode": code, "errorMessage": message, "variables": dict(variables)}
    return (command("POST", f"{JOBS}/{job}/error", body),)


def _complete_user_task(_run: ServerRun, task: int, variables: Mapping[str, Any]) -> Requests:
    return (requests.of_task(task, "completion", {"variables": dict(variables)}),)


def publication(name: str, correlation_key: str, variables: Mapping[str, Any], time_to_live: timedelta) -> ApiRequest:
    """The publication of a message."""
    more = {"timeToLive": _ms(time_to_live)}
    return requests.message("publication", name, correlation_key, dict(variables), None, **more)


def _publish(
    _run: ServerRun,
    name: str,
    correlation_key: str,
    variables: Mapping[str, Any],
    *,
    time_to_live: timedelta = timedelta(0),
) -> Requests:
    return (publication(name, correlation_key, variables, time_to_live),)


def _broadcast(_run: ServerRun, name: str, variables: Mapping[str, Any]) -> Requests:
    return (requests.signal(name, dict(variables), None),)


def _resolve(run: ServerRun, incident: int) -> Requests:
    jobs = {one.job_key for one in run.instance.incidents if one.key == incident}
    spent = [job.key for job in run.instance.jobs if job.key in jobs and job.retries <= 0]
    again = [command("PATCH", f"{JOBS}/{job}", {"changeset": {"retries": 1}}) for job in spent]
    return (*again, command("POST", f"/v2/incidents/{incident}/resolution", {}))


def _set_variables(run: ServerRun, variables: Mapping[str, Any]) -> Requests:
    body = {"variables": dict(variables), "local": False}
    return (command("PUT", f"/v2/element-instances/{run.key}/variables", body),)


def _modify(
    run: ServerRun, *, activate: Any, terminate: Any, move: Mapping[str, str], variables: Mapping[str, Any]
) -> Requests:
    body = requests.modification(list(activate), move, list(terminate), dict(variables))
    return (requests.of_instance(run.key, "modification", body),)


def _suspend(run: ServerRun, reason: str | None) -> Requests:
    return (requests.of_instance(run.key, "suspension", {"reason": reason}),)


def _assign_business_id(run: ServerRun, business_id: str) -> Requests:
    return (requests.of_instance(run.key, "business-id-assignment", {"businessId": business_id}),)


def _ms(duration: timedelta) -> int:
    return duration // timedelta(milliseconds=1)


REQUESTS: Mapping[Callable[..., Result], Callable[..., Requests]] = {
    library.complete: _complete,
    library.decide: _decide,
    library.activate: _activate,
    library.deny: _deny,
    library.fail: _fail,
    library.throw_error: _throw_error,
    library.complete_user_task: _complete_user_task,
    library.publish: _publish,
    library.broadcast: _broadcast,
    library.resolve: _resolve,
    library.set_variables: _set_variables,
    library.cancel: lambda run: (requests.of_instance(run.key, "cancellation"),),
    library.modify: _modify,
    library.suspend: _suspend,
    library.resume: lambda run: (requests.of_instance(run.key, "resumption"),),
    library.undo: lambda run, _offer: (requests.of_instance(run.key, "undo"),),
    library.assign_business_id: _assign_business_id,
}
"""The function for an instance in memory → the requests to a server that do the same."""
