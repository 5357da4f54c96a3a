"""All wait states that an instance can reach: each is found once, for operations on instances in it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from vivero import library
from vivero.core.bpmn.model import ErrorEvent
from vivero.library import Instance, Job, Models, Rejected, Result
from vivero.testing.mocks import Mocks, report_of, variables_of

MOST_STATES = 1_000
"""Parallel branches multiply the states of a process."""

ANY_CODE = "ERROR"
"""A code for events that catch every error."""

Shape = tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class WaitState:
    """An instance that waits, and the elements that have acted on the way to it."""

    result: Result
    way: tuple[str, ...] = ()

    def __str__(self) -> str:
        """The elements that are active, and the way."""
        active = ", ".join(sorted({one.id for one in self.result.instance.elements[1:]}))
        return f"at {active or 'nothing'}, after {', '.join(self.way) or 'the start'}"


def wait_states(models: Models, mocks: Mocks, first: Result) -> Iterator[WaitState]:
    """Each wait state that is reachable from `first`, the nearest first.

    Jobs, user tasks, messages, signals and timers act one at a time, with the answers of their mocks or without
    variables. Each job also throws the errors that are caught around it. Two states with the same elements and waits
    are one, whatever their variables are.

    Raises AssertionError for too many states, and if an action is refused.
    """
    codes = _codes(models)
    seen = {_shape(first.instance)}
    pending = deque([WaitState(first)])
    while pending:
        state = pending.popleft()
        if state.result.instance.ended:
            continue
        yield state
        for following in _following(models, mocks, codes, state):
            shape = _shape(following.result.instance)
            if shape not in seen:
                seen.add(shape)
                pending.append(following)
        if len(seen) > MOST_STATES:
            raise AssertionError(f"The process has more than {MOST_STATES} wait states: mock a part of it.")


def _following(models: Models, mocks: Mocks, codes: Sequence[str], state: WaitState) -> Iterator[WaitState]:
    try:
        for element, result in _actions(models, mocks, codes, state.result):
            yield WaitState(result, (*state.way, element))
    except Rejected as error:
        raise AssertionError(f"{error}\nThe instance is {state}.") from None


def _actions(models: Models, mocks: Mocks, codes: Sequence[str], now: Result) -> Iterator[tuple[str, Result]]:
    """The element that acts, and the result."""
    instance, given = now.instance, (models, now.snapshot)
    for job in {(job.element, job.type): job for job in reversed(instance.available_jobs)}.values():
        function, arguments, options = report_of(job, mocks.jobs.get(job.type))
        yield job.element, function(*given, *arguments, **options)
        yield from _errors(models, codes, job, now)
    for task in {task.element: task for task in reversed(instance.user_tasks)}.values():
        if task.state == "CREATED":
            variables = variables_of(mocks.user_tasks.get(task.element), task.variables)
            yield task.element, library.complete_user_task(*given, task.key, variables)
    for wait in instance.waits:
        if wait.kind == "MESSAGE" and wait.correlation_key is not None:
            variables = variables_of(mocks.messages.get(wait.name), instance.variables)
            yield wait.element, library.publish(*given, wait.name, wait.correlation_key, variables)
        elif wait.kind == "SIGNAL":
            yield wait.element, library.broadcast(*given, wait.name)
    if instance.next_due is not None:
        elements = [timer.element for timer in instance.timers if timer.due_at == instance.next_due]
        yield elements[0] if elements else "time", library.advance(*given, instance.next_due)


def _errors(models: Models, codes: Sequence[str], job: Job, now: Result) -> Iterator[tuple[str, Result]]:
    """The errors that something around the job catches: an uncaught one would be an incident."""
    if job.kind == "BPMN_ELEMENT":
        for code in codes:
            result = library.throw_error(models, now.snapshot, job.key, code)
            if not result.happened.incidents:
                yield f"{job.element} ({code})", result


def _codes(models: Models) -> list[str]:
    """The codes of all error events. One without a code catches any."""
    processes = (process for resource in models.resources.values() for process in resource.values())
    events = [node.event for process in processes for node in process.nodes.values()]
    errors = [event for event in events if isinstance(event, ErrorEvent)]
    codes = {ANY_CODE if error.code is None else error.code.static_value for error in errors}
    return sorted(code for code in codes if isinstance(code, str))


@dataclass(frozen=True, slots=True)
class OperationTrials:
    """An operation on instances in several states. `name`: its verb. `undo`: it must be possible to take it back."""

    name: str
    models: Models
    operation: Callable[[Result], Result]
    undo: bool

    def of(self, states: Iterable[WaitState]) -> list[Result]:
        """The results of the operation. Raises AssertionError: it names the states and all reasons."""
        __tracebackhide__ = True
        done, refused = list[Result](), list[str]()
        for state in states:
            try:
                done.append(self.operation(state.result))
                refused += self._without_undo(state, done[-1])
            except Rejected as error:
                refused.append("\n  ".join([f"An instance {state}, cannot {self.name}:", *error.problems]))
        if refused:
            raise AssertionError("\n".join(refused))
        return done

    def _without_undo(self, state: WaitState, operated: Result) -> Iterator[str]:
        """The reason why the operation cannot be taken back exactly, if it must be."""
        if not self.undo:
            return
        heading = f"An instance {state}, can {self.name}, but there is no undo:"
        try:
            undone = library.undo(self.models, operated.snapshot, operated.undo).instance
        except Rejected as error:
            yield f"{heading}\n  {error}"
        else:
            if _restored(undone) != _restored(state.result.instance):
                yield f"{heading}\n  The undo leads to another state."


def _restored(instance: Instance) -> tuple[object, ...]:
    """All that an undo restores, without keys: terminated elements begin again under new ones."""
    variables = sorted((one.id, repr(sorted(one.variables.items()))) for one in instance.elements)
    due = sorted((timer.element, timer.due_at) for timer in instance.timers)
    return instance.process_id, instance.suspended_reason, _shape(instance), variables, due


def _shape(instance: Instance) -> Shape:
    """Elements and waits, without keys and variables. Equal ones in a loop are counted, not told apart."""
    return (
        (instance.state,),
        tuple(sorted(f"{one.id} {one.state}" for one in instance.elements)),
        tuple(sorted(f"{job.element} {job.type} {job.available}" for job in instance.jobs)),
        tuple(sorted(f"{task.element} {task.state}" for task in instance.user_tasks)),
        tuple(sorted(timer.element for timer in instance.timers)),
        tuple(sorted(f"{wait.element} {wait.kind}" for wait in instance.waits)),
        tuple(sorted(f"{one.element} {one.type}" for one in instance.incidents)),
    )
