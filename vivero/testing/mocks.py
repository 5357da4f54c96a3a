"""Mocks: what happens by itself when an instance waits for a job, a user task, a message or a timer."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any, Protocol

from vivero import library
from vivero.library import Job, Models, Result
from vivero.testing.names import proposal
from vivero.testing.scripts import ModelCall, Script

Answer = Mapping[str, Any] | Callable[[Mapping[str, Any]], Mapping[str, Any] | None] | None
"""Variables, or a function from the visible variables to variables. It may raise BpmnError or JobFailure."""

CALLED_JOB = "vivero:mocked-process:"
"""The job type of the only task of a mocked process, before the id of the process."""

_PROCESS = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="https://vivero.example/mocks"
 xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">
 <process id="{id}" isExecutable="true">
  <startEvent id="start" /><sequenceFlow id="begin" sourceRef="start" targetRef="mock" />
  <serviceTask id="mock"><extensionElements><zeebe:taskDefinition type="{type}" /></extensionElements></serviceTask>
  <sequenceFlow id="finish" sourceRef="mock" targetRef="end" /><endEvent id="end" />
 </process>
</definitions>"""


class BpmnError(Exception):
    """Raised by the mock of a job: the job ends with this BPMN error."""

    def __init__(self, code: str, message: str = "", variables: Mapping[str, Any] = {}) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.variables = variables


class JobFailure(Exception):
    """Raised by the mock of a job: the job fails, with `retries` left (None: one fewer)."""

    def __init__(self, message: str = "", retries: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.retries = retries


class OwnWorker(Protocol):
    """A `vivero.worker.Worker`."""

    @property
    def functions(self) -> Mapping[str, Any]: ...


Send = Callable[[str, str, Mapping[str, Any]], object]
"""Sends a request to a server: method, path, body."""


class JobWorkers(Protocol):
    """The user's own workers (`vivero.testing.workers`, which a test imports if it uses some)."""

    @property
    def types(self) -> Collection[str]:
        """The job types that they work."""

    def add(self, given: OwnWorker | ModuleType) -> None:
        """Raises TypeError, ValueError."""

    def work(self, job: Job, models: Models, snapshot: str) -> Result:
        """Work on a job. Gives the instance after the report."""

    def work_at(self, send: Send, job: Job, snapshot: str) -> None:
        """Work on a job of a server, to which `send` takes the report."""


class ModelScripts(Protocol):
    """The scripts of models (`vivero.testing.models`, which a test imports if it has some)."""

    @property
    def elements(self) -> Collection[str]:
        """The elements of agents that have a script."""

    def use(self, element: str, script: Script) -> None:
        """Let the model of an element answer by this script."""

    def calls(self, instance: int, element: str) -> list[ModelCall]:
        """The calls of the model of an element, by the key of the root instance."""

    def work(self, job: Job, models: Models, snapshot: str) -> Result:
        """Work on the job of an agent. Gives the instance after it."""

    def work_at(self, send: Send, job: Job, models: Models, snapshot: str) -> None:
        """Work on the job of an agent of a server, to which `send` takes the report."""


@dataclass(slots=True)
class Mocks:
    """By job type, by element id of a user task or timer, and by message name."""

    jobs: dict[str, Answer] = field(default_factory=dict)
    user_tasks: dict[str, Answer] = field(default_factory=dict)
    messages: dict[str, Answer] = field(default_factory=dict)
    timers: set[str] = field(default_factory=set)
    workers: JobWorkers | None = None
    """They work the jobs that have no mock."""
    models: ModelScripts | None = None

    def lacks_worker(self, type: str) -> str:
        """The end of a sentence, with a proposal, if there are workers, but none for the jobs of this type."""
        if self.workers is None or type in self.jobs or type in self.workers.types:
            return ""
        return f"; no worker works that type.{proposal(type, self.workers.types)}"


def variables_of(answer: Answer, seen: Mapping[str, Any]) -> Mapping[str, Any]:
    """The variables of an answer; a function gets those that are visible."""
    given = answer(seen) if callable(answer) else answer
    return {} if given is None else given


Report = tuple[Callable[..., Result], tuple[Any, ...], dict[str, Any]]
"""A function of the library, and its arguments behind models and snapshot."""


def report_of(job: Job, answer: Answer) -> Report:
    """The report of a worker that gives this answer."""
    try:
        variables = variables_of(answer, job.variables)
    except BpmnError as error:
        return library.throw_error, (job.key, error.code, error.message, error.variables), {}
    except JobFailure as failure:
        return library.fail, (job.key, failure.message), {"retries": failure.retries}
    return library.complete, (job.key, variables), {}


def mocked_process(process_id: str) -> tuple[str, bytes]:
    """Name and content of a file with a process of one task, whose job is mocked."""
    text = _PROCESS.format(id=process_id, type=CALLED_JOB + process_id)
    return f"mock of {process_id}.bpmn", text.encode()
