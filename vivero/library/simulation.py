"""Simulations: a model runs with test data from its start to its end, and every step is reported; or one decision.

A simulation has no clock and no effects. `run` takes and gives JSON, so that another process can do the work.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

import msgspec

from vivero.core.feel import FeelError, from_json
from vivero.core.records.base import Command
from vivero.core.records.instances import ElementActivating, IncidentRaised
from vivero.core.records.jobs import CompleteJob, FailJob, ThrowJobError
from vivero.core.records.messages import PublishMessage
from vivero.core.records.signals import BroadcastSignal
from vivero.core.records.user_tasks import CompleteUserTask
from vivero.library import functions
from vivero.library.calls import encoded
from vivero.library.decision_reports import report
from vivero.library.decisions import DecisionModels
from vivero.library.machine import Machine, MissingModel, Rejected, TooMuchWork
from vivero.library.models import InvalidModel, Models
from vivero.library.overview import Instance, Job, overview
from vivero.library.result import new_places, reached

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
"""The time at which each simulation begins."""
MOST_STEPS = 500


class ModelFile(msgspec.Struct, frozen=True):
    """A BPMN, DMN or form file."""

    name: str
    content: str


class GivenAnswer(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The answer to a job, user task or message: variables, or for a job an error or a failure without retries."""

    variables: dict[str, Any] = {}
    error_code: str | None = None
    failure: str | None = None


class Simulation(msgspec.Struct, frozen=True, rename="camel"):
    """The files and the test data. `wait_for`: elements whose job, task, message or timer stays open."""

    resources: list[ModelFile]
    process_id: str | None = None
    decision_id: str | None = None
    """The id or the name of a decision: it is evaluated with the variables, and no process runs."""
    start_at: str | None = None
    variables: dict[str, Any] = {}
    jobs: dict[str, GivenAnswer] = {}
    """By job type or by element id, which has precedence."""
    user_tasks: dict[str, GivenAnswer] = {}
    messages: dict[str, GivenAnswer] = {}
    wait_for: list[str] = []

    def __post_init__(self) -> None:
        names = Counter(file.name for file in self.resources)
        if repeated := [name for name, count in names.items() if count > 1]:
            raise ValueError(f"several files have the name '{repeated[0]}'")
        if self.decision_id is not None and self.process_id is not None:
            raise ValueError("it names a process and a decision, of which one can be tried at a time")


class Step(msgspec.Struct, frozen=True, omit_defaults=True):
    """Something that happened, and the elements that were entered because of it."""

    what: str
    entered: tuple[str, ...] = ()


class SimulationReport(msgspec.Struct, frozen=True, rename="camel"):
    """The end of a simulation. `state`: COMPLETED, TERMINATED, or ACTIVE if something stays open."""

    state: str
    steps: list[Step]
    variables: Mapping[str, Any]
    waits_for: list[str]
    incidents: list[str]
    not_reached: list[str]
    stopped: str | None = None
    """The reason that it was ended before its end."""


class _Action(NamedTuple):
    what: str
    act: Command | datetime
    """A command, or the time until which time passes."""


def run(document: bytes) -> tuple[bytes, str | None]:
    """Simulate what a JSON document describes (`Simulation`). The report as JSON, or the problem."""
    try:
        simulation = msgspec.json.decode(document, type=Simulation)
        found = simulated(simulation) if simulation.decision_id is None else _decided(simulation, document)
    except msgspec.DecodeError as error:
        return b"", f"The simulation is wrong: {error}"
    except (InvalidModel, MissingModel, Rejected, TooMuchWork, FeelError) as error:
        return b"", str(error)
    return msgspec.json.encode(found), None


class _Exact(msgspec.Struct, frozen=True):
    """The variables with all digits of their numbers, which decisions compute with."""

    variables: msgspec.Raw = msgspec.Raw(b"{}")


def _decided(simulation: Simulation, document: bytes) -> dict[str, Any]:
    """The evaluation of a decision. Raises InvalidModel, MissingModel, and FeelError for a result without JSON."""
    decisions = DecisionModels(_contents(simulation))
    variables = from_json(bytes(msgspec.json.decode(document, type=_Exact).variables))
    try:
        evaluation = decisions.explain(simulation.decision_id or "", variables, now=BEGIN, is_json=True)
    except KeyError as error:
        raise MissingModel(error.args[0]) from error
    return report(evaluation)


def _contents(simulation: Simulation) -> dict[str, bytes]:
    return {file.name: file.content.encode() for file in simulation.resources}


def simulated(simulation: Simulation) -> SimulationReport:
    """Run a process until it ends, or until all that is open waits for what is not answered.

    Raises:
        InvalidModel, MissingModel: the files have problems.
        Rejected: it cannot be started like this.
        TooMuchWork: it does not come to a wait state.
    """
    models = Models(_contents(simulation))
    begun = functions.begun(
        models, simulation.variables, now=BEGIN, process_id=simulation.process_id, at=simulation.start_at
    )
    run = _Run(models, simulation, begun)
    run.note("started")
    stopped = run.to_the_end()
    return run.report(stopped)


class _Run:
    """One machine for all steps: to write and restore the tree for each would take a time with its size."""

    def __init__(self, models: Models, simulation: Simulation, machine: Machine) -> None:
        self.models, self.simulation, self.machine = models, simulation, machine
        self.steps: list[Step] = []
        self.reached: set[tuple[str, str]] = set()
        self.instance = self._look()

    def to_the_end(self) -> str | None:
        """Act until nothing is left to do. Returns why it was ended before that; None: it was not."""
        while not self.instance.ended:
            acted = False
            for action in self._actions(self.instance):
                if len(self.steps) > MOST_STEPS:
                    return f"It did not end within {MOST_STEPS} steps"
                self._do(action)
                acted = True
            if not acted:
                return None
            self.instance = self._look()
        return None

    def _look(self) -> Instance:
        """The instance as it is now."""
        snapshot = self.machine.snapshot()
        self.machine.root = snapshot.elements[0]
        return overview(snapshot)

    def _do(self, action: _Action) -> None:
        machine = self.machine
        machine.begin_call()
        machine.continue_work()
        if isinstance(action.act, datetime):
            functions.let_pass(machine, action.act)
        else:
            machine.run(action.act)
        self.note(action.what)

    def note(self, what: str) -> None:
        """Add a step with what the last call brought, and one for each of its incidents."""
        machine, events = self.machine, list(self.machine.events())
        places = machine.places
        places.update(new_places(places, events))
        self.reached.update(reached(places, events))
        self.steps.append(
            Step(what, tuple(places[event.key][1] for event in events if isinstance(event, ElementActivating)))
        )
        self.steps += (
            Step(f"incident at {places[event.element][1]}: {event.type}: {event.message}")
            for event in events
            if isinstance(event, IncidentRaised) and event.key in machine.state.incidents
        )

    def _actions(self, instance: Instance) -> Iterator[_Action]:
        """The next actions: the jobs that are still open when it is their turn, or the first of anything else."""
        there = False
        for job in instance.available_jobs:
            if not self._waits(job.element) and job.key in self.machine.state.jobs:
                there = True
                yield self._report(job)
        if not there and (other := next(self._others(instance), None)) is not None:
            yield other

    def _others(self, instance: Instance) -> Iterator[_Action]:
        for task in instance.user_tasks:
            if task.state == "CREATED" and not self._waits(task.element):
                variables = encoded(self.simulation.user_tasks.get(task.element, _NOTHING).variables)
                yield _Action(f"user task {task.element} completed", CompleteUserTask(task.key, variables))
        for wait in instance.waits:
            if wait.kind == "MESSAGE" and wait.correlation_key is not None and not self._waits(wait.element):
                variables = encoded(self.simulation.messages.get(wait.name, _NOTHING).variables)
                command = PublishMessage(wait.name, wait.correlation_key, 0, None, variables)
                yield _Action(f"message '{wait.name}' published for {wait.element}", command)
            elif wait.kind == "SIGNAL" and not self._waits(wait.element):
                yield _Action(f"signal '{wait.name}' broadcast", BroadcastSignal(wait.name, {}))
        due = instance.next_due
        if due is not None:
            elements = [timer.element for timer in instance.timers if timer.due_at == due]
            if not any(map(self._waits, elements)):
                what = f"timer {', '.join(elements)} fired" if elements else "time passed"
                yield _Action(f"{what} at {due.isoformat()}", due)

    def _waits(self, element: str) -> bool:
        return element in self.simulation.wait_for

    def _report(self, job: Job) -> _Action:
        simulation, what = self.simulation, f"job {job.element} ({job.type})"
        answer = simulation.jobs.get(job.element, simulation.jobs.get(job.type, _NOTHING))
        variables = encoded(answer.variables)
        if answer.error_code is not None:
            return _Action(
                f"{what} threw {answer.error_code}", ThrowJobError(job.key, answer.error_code, None, variables)
            )
        if answer.failure is not None:
            return _Action(f"{what} failed", FailJob(job.key, 0, 0, answer.failure or None, variables))
        return _Action(f"{what} completed", CompleteJob(job.key, variables))

    def report(self, stopped: str | None) -> SimulationReport:
        instance = self.instance = self._look()
        return SimulationReport(
            instance.state,
            self.steps,
            instance.variables,
            [] if instance.ended else list(self._open()),
            [f"{one.element}: {one.type}: {one.message}" for one in instance.incidents],
            self._not_reached(),
            stopped,
        )

    def _not_reached(self) -> list[str]:
        """The elements of the processes that ran which were not reached, with the process if several have the id."""
        ran = {process for process, _ in self.reached}
        newest = {id: process for file in self.models.resources.values() for id, process in file.items() if id in ran}
        owners: dict[str, list[str]] = {}
        for id, process in newest.items():
            for node in process.nodes:
                if node != id:
                    owners.setdefault(node, []).append(id)
        missed = ((node, ids, id) for node, ids in owners.items() for id in ids if (id, node) not in self.reached)
        return sorted(node if len(ids) == 1 else f"{node} of process {id}" for node, ids, id in missed)

    def _open(self) -> Iterator[str]:
        instance = self.instance
        yield from (f"job {job.element} ({job.type})" for job in instance.jobs)
        yield from (f"user task {task.element}" for task in instance.user_tasks)
        yield from (f"{wait.kind.lower()} '{wait.name}' at {wait.element}" for wait in instance.waits)
        yield from (f"timer {timer.element} at {timer.due_at.isoformat()}" for timer in instance.timers)


_NOTHING = GivenAnswer()
