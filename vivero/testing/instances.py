"""One process instance in a test: actions, expectations, and mocks that act by themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from vivero import library
from vivero.core.shared.jobs import EXECUTION_LISTENER, TASK_LISTENER
from vivero.core.undos.inverse import NO_OPERATION
from vivero.library import Instance, Job, Models, Rejected, Result, UndoOffer, UserTask
from vivero.testing.agents import AgentRun
from vivero.testing.descriptions import describe, shown
from vivero.testing.forms import form_problems
from vivero.testing.mocks import Mocks, ModelScripts, report_of, variables_of
from vivero.testing.names import elements_of, proposal

LISTENERS = (EXECUTION_LISTENER, TASK_LISTENER)
MOST_MOCKED = 1_000
"""Answers of mocks in a row. A process that goes round over its mocks would never end."""


Paths = tuple[str | Path, ...]


class ProcessRun:
    """A process instance. Each action runs it until it waits for something that no mock answers.

    `element` is the id of an element. Methods about jobs take a job type, too.
    """

    def __init__(
        self,
        models: Models,
        mocks: Mocks,
        result: Result,
        observe: Callable[[ProcessRun, Result], None],
        with_files: Callable[[Models, Paths], Models],
    ) -> None:
        """`observe` gets this object and the result of each step. `with_files` gives the models and further files."""
        self._models = models
        self._with_files = with_files
        self._mocks = mocks
        self._observe = observe
        self._answered: set[int] = set()
        self.completed: list[str] = []
        """The ids of completed elements, in their order."""
        self.entered: list[str] = []
        self.snapshot = ""
        """The JSON document of the instance."""
        self._take(result)
        self._answer()

    # ---- actions

    def complete(self, element: str, variables: Mapping[str, Any] = {}) -> ProcessRun:
        """Complete the oldest open job of an element or a type."""
        return self._do(library.complete, self._job(element).key, variables)

    def decide(
        self,
        element: str,
        *activate: str,
        variables: Mapping[str, Any] = {},
        fulfilled: bool = False,
        cancel_remaining: bool = False,
    ) -> ProcessRun:
        """Complete the job of an ad-hoc sub-process: what comes next, or that nothing does (`fulfilled`)."""
        said = {"fulfilled": fulfilled, "cancel_remaining": cancel_remaining}
        return self._do(library.decide, self._job(element).key, {id: {} for id in activate}, variables, **said)

    def activate(self, element: str, id: str, variables: Mapping[str, Any] = {}) -> ProcessRun:
        """Activate the element `id` of an ad-hoc sub-process."""
        __tracebackhide__ = True
        self._check_names((element, id))
        scopes = [one for one in self.instance.elements if one.id == element and one.type == "AD_HOC_SUB_PROCESS"]
        self._check(bool(scopes), f"There is no ad-hoc sub-process '{element}'.")
        return self._do(library.activate, scopes[0].key, {id: variables})

    def deny(self, element: str, reason: str = "") -> ProcessRun:
        """Deny the change of a user task that its listener, given by its element or type, is asked about."""
        return self._do(library.deny, self._job(element).key, reason)

    def fail(self, element: str, message: str = "", retries: int | None = None, **after: float) -> ProcessRun:
        """Fail a job, with `retries` left (by default one fewer). `after`: hours=1, … until it is tried again."""
        job = self._job(element)
        return self._do(library.fail, job.key, message, retries=retries, retry_after=timedelta(**after))

    def throw_error(self, element: str, code: str, variables: Mapping[str, Any] = {}) -> ProcessRun:
        """End a job with a BPMN error."""
        return self._do(library.throw_error, self._job(element).key, code, "", variables)

    def complete_user_task(
        self, element: str, variables: Mapping[str, Any] = {}, *, check_form: bool = True
    ) -> ProcessRun:
        """Complete the oldest open user task of an element. `check_form`: with what its form accepts."""
        __tracebackhide__ = True
        task = self._user_task(element)
        if check_form:
            self._check_form(task, variables)
        return self._do(library.complete_user_task, task.key, variables)

    def publish(
        self, name: str, correlation_key: str, variables: Mapping[str, Any] = {}, **time_to_live: float
    ) -> ProcessRun:
        """Publish a message to this instance. `time_to_live`: hours=1, minutes=5, …"""
        return self._do(library.publish, name, correlation_key, variables, time_to_live=timedelta(**time_to_live))

    def broadcast(self, name: str, variables: Mapping[str, Any] = {}) -> ProcessRun:
        """Broadcast a signal to this instance."""
        return self._do(library.broadcast, name, variables)

    def advance(self, by: timedelta | None = None, **duration: float) -> ProcessRun:
        """Let the time pass: advance(hours=2), or advance(timedelta(…)). All timers that become due fire."""
        until = self.now + (timedelta(**duration) if by is None else by)
        while (due := self.instance.next_due) is not None and self.now < due <= until:
            self._do(library.advance, due)  # mocks answer before the next timer fires
        return self if self.instance.ended else self._do(library.advance, until)

    def set_variables(self, variables: Mapping[str, Any]) -> ProcessRun:
        """Set variables of the instance."""
        return self._do(library.set_variables, variables)

    def resolve(self, element: str) -> ProcessRun:
        """Resolve the incident of an element."""
        __tracebackhide__ = True
        self._check_names((element,))
        found = [incident for incident in self.instance.incidents if incident.element == element]
        self._check(bool(found), f"There is no incident at '{element}'.")
        return self._do(library.resolve, found[0].key)

    def cancel(self) -> ProcessRun:
        """Cancel the instance."""
        return self._do(library.cancel)

    # ---- operations

    def migrate(
        self, *paths: str | Path, mappings: Mapping[str, str] | None = None, process_id: str | None = None
    ) -> ProcessRun:
        """Let the instance continue by its process in these files, or by another one.

        `mappings`: source id → target id; None: what the server suggests.
        """
        __tracebackhide__ = True
        self._models = self._with_files(self._models, paths)
        return self._do(library.migrate, mappings, process_id=process_id)

    def modify(
        self,
        *,
        activate: Iterable[str] = (),
        terminate: Iterable[str] = (),
        move: Mapping[str, str] = {},
        variables: Mapping[str, Any] = {},
    ) -> ProcessRun:
        """Activate, terminate and move elements. `move`: source id → target id. `variables` are set first."""
        return self._do(library.modify, activate=activate, terminate=terminate, move=move, variables=variables)

    def suspend(self, reason: str | None = None) -> ProcessRun:
        """Suspend the instance. Its mocks answer again after the resumption."""
        return self._do(library.suspend, reason)

    def resume(self) -> ProcessRun:
        """Resume the instance."""
        return self._do(library.resume)

    def undo(self) -> ProcessRun:
        """Take the latest operation back: a modification, migration, suspension, resumption, or the undo of one.

        An answer of a mock since then counts as something else that has happened.
        """
        return self._do(library.undo, self._undo)

    def assign_business_id(self, business_id: str) -> ProcessRun:
        """Give a business id to the instance, which has none."""
        return self._do(library.assign_business_id, business_id)

    # ---- what there is

    @property
    def now(self) -> datetime:
        return self.instance.at

    @property
    def variables(self) -> Mapping[str, Any]:
        """The variables of the process instance."""
        return self.instance.variables

    def describe(self) -> str:
        """The activity of the instance, in words."""
        return describe(self.instance, self.completed, self._mocks.lacks_worker)

    def agent(self, element: str) -> AgentRun:
        """The agent of an element whose model has a script, with the calls of its model.

        Raises AssertionError if the element has no script.
        """
        __tracebackhide__ = True
        models = self._mocks.models
        if models is None or element not in models.elements:
            raise AssertionError(f"The model of '{element}' has no script: call processes.mock_model first.")
        return AgentRun(element, models.calls(self.instance.key, element), self._check)

    # ---- expectations

    def expect_active(self, *elements: str) -> ProcessRun:
        """Each of these elements is active now."""
        __tracebackhide__ = True
        self._check_names(elements)
        active = {element.id for element in self.instance.elements}
        for element in elements:
            self._check(element in active, f"'{element}' is not active.")
        return self

    def expect_not_active(self, *elements: str) -> ProcessRun:
        """None of these elements is active now."""
        __tracebackhide__ = True
        self._check_names(elements)
        active = {element.id for element in self.instance.elements}
        for element in elements:
            self._check(element not in active, f"'{element}' is active.")
        return self

    def expect_completed(self, *elements: str) -> ProcessRun:
        """Each of these elements has completed; without elements, the instance has."""
        __tracebackhide__ = True
        self._check_names(elements)
        if not elements:
            self._check(self.instance.state == "COMPLETED", "The instance has not completed.")
        for element in elements:
            self._check(element in self.completed, f"'{element}' has not completed.")
        return self

    def expect_path(self, *elements: str) -> ProcessRun:
        """These elements have completed in this order. Others may be between them."""
        __tracebackhide__ = True
        self._check_names(elements)
        remaining = iter(self.completed)
        for element in elements:
            self._check(element in remaining, f"'{element}' has not completed at its place in {' > '.join(elements)}.")
        return self

    def expect_not_entered(self, *elements: str) -> ProcessRun:
        """None of these elements was ever entered."""
        __tracebackhide__ = True
        self._check_names(elements)
        for element in elements:
            self._check(element not in self.entered, f"'{element}' was entered.")
        return self

    def expect_terminated(self) -> ProcessRun:
        """The instance was terminated."""
        __tracebackhide__ = True
        self._check(self.instance.state == "TERMINATED", "The instance was not terminated.")
        return self

    def expect_variables(self, expected: Mapping[str, Any] = {}, **more: Any) -> ProcessRun:
        """The process instance has these variables. It may have others."""
        __tracebackhide__ = True
        for name, value in {**expected, **more}.items():
            self._check(name in self.variables, f"There is no variable '{name}'.")
            found = self.variables[name]
            self._check(found == value, f"The variable '{name}' is {shown(found)}, not {shown(value)}.")
        return self

    def expect_undo(self) -> ProcessRun:
        """The latest operation can be taken back exactly."""
        __tracebackhide__ = True
        offer = self._undo
        self._check(offer is not None, "The latest change of the instance is not an operation.")
        assert offer is not None, "it is checked"
        self._check(offer.offered, f"The {offer.operation} of the instance has no undo: {offer.reason}.")
        return self

    def expect_no_undo(self, containing: str = "") -> ProcessRun:
        """The latest operation cannot be taken back, for a reason that contains this text."""
        __tracebackhide__ = True
        offer = self._undo
        reason = NO_OPERATION if offer is None else offer.reason
        self._check(reason is not None, "The latest operation can be taken back.")
        self._check(containing in str(reason), f"The reason why there is no undo is '{reason}'.")
        return self

    def expect_incident(self, element: str, containing: str = "") -> ProcessRun:
        """The element has an incident, whose type or message contains this text."""
        __tracebackhide__ = True
        self._check_names((element,))
        found = [f"{one.type}: {one.message}" for one in self.instance.incidents if one.element == element]
        self._check(bool(found), f"There is no incident at '{element}'.")
        self._check(any(containing in text for text in found), f"No incident at '{element}' contains '{containing}'.")
        return self

    def expect_no_incidents(self) -> ProcessRun:
        __tracebackhide__ = True
        self._check(not self.instance.incidents, "There are incidents.")
        return self

    def _check_names(self, elements: Iterable[str]) -> None:
        """Fail for an element that the models do not have: an expectation that it was not entered always holds."""
        __tracebackhide__ = True
        for element in elements:
            if element not in self.entered and element not in (known := elements_of(self._models)):
                self._check(False, f"The models have no element '{element}'.{proposal(element, known)}")

    def _check_form(self, task: UserTask, variables: Mapping[str, Any]) -> None:
        """Fail if the form of the task is among the models and does not accept the variables."""
        __tracebackhide__ = True
        schema = None if task.form_key is None else self._models.form(task.form_key)
        problems = [] if schema is None else form_problems(schema, {**task.variables, **variables})
        self._check(not problems, f"The form of '{task.element}' does not accept this: {'; '.join(problems)}.")

    def _check(self, holds: bool, failure: str) -> None:
        __tracebackhide__ = True
        if not holds:
            raise AssertionError(f"{failure}\n{self.describe()}")

    # ---- steps

    def _do(self, function: Callable[..., Result], *arguments: Any, **options: Any) -> ProcessRun:
        __tracebackhide__ = True
        self._step(function, *arguments, **options)
        self._answer()
        return self

    def _step(self, function: Callable[..., Result], *arguments: Any, **options: Any) -> None:
        __tracebackhide__ = True
        try:
            result = function(self._models, self.snapshot, *arguments, **options)
        except Rejected as error:
            problems = "\n".join(error.problems)
            raise AssertionError(f"{problems}\n{self.describe()}") from None
        self._take(result)

    def _take(self, result: Result) -> None:
        self.snapshot = result.snapshot
        self.instance: Instance = result.instance
        self._undo: UndoOffer | None = result.undo
        self.completed += result.happened.completed
        self.entered += result.happened.entered
        self._observe(self, result)

    def _job(self, element: str) -> Job:
        __tracebackhide__ = True
        found = [job for job in self.instance.available_jobs if element in (job.element, job.type)]
        if not found and element not in elements_of(self._models):
            known = {name for job in self.instance.available_jobs for name in (job.element, job.type)}
            self._check(False, f"There is no job of '{element}' to work on.{proposal(element, known)}")
        self._check(bool(found), f"There is no job of '{element}' to work on.")
        return found[0]

    def _user_task(self, element: str) -> UserTask:
        __tracebackhide__ = True
        self._check_names((element,))
        found = [task for task in self.instance.user_tasks if task.element == element]
        self._check(bool(found), f"There is no user task '{element}'.")
        return found[0]

    # ---- mocks

    def _answer(self) -> None:
        """Let mocks answer until the instance waits for something else."""
        __tracebackhide__ = True
        for _ in range(MOST_MOCKED):
            if not self._answer_once():
                return
        raise AssertionError(f"The mocks have answered {MOST_MOCKED} times in a row.\n{self.describe()}")

    def _answer_once(self) -> bool:
        if self.instance.suspended_at is not None:
            return False
        return self._answer_job() or self._answer_user_task() or self._answer_message() or self._answer_timer()

    def _answer_job(self) -> bool:
        __tracebackhide__ = True
        for job in self.instance.available_jobs:
            models = self._mocks.models
            if models is not None and job.element in models.elements and job.kind not in LISTENERS:
                self._ask_model(models, job)
                return True
            if job.type in self._mocks.jobs:
                function, arguments, options = report_of(job, self._mocks.jobs[job.type])
                self._step(function, *arguments, **options)
                return True
            workers = self._mocks.workers
            if workers is not None and job.type in workers.types:
                self._work(job)
                return True
        return False

    def _work(self, job: Job) -> None:
        """Let one of the user's own workers work a job."""
        __tracebackhide__ = True
        assert self._mocks.workers is not None, "it is checked"
        self._take(self._mocks.workers.work(job, self._models, self.snapshot))

    def _ask_model(self, models: ModelScripts, job: Job) -> None:
        """Let an agent work its job with the answers of its script."""
        __tracebackhide__ = True
        try:
            self._take(models.work(job, self._models, self.snapshot))
        except Rejected as error:
            raise AssertionError(f"The decision of '{job.element}' is rejected: {error}\n{self.describe()}") from None

    def _answer_user_task(self) -> bool:
        """Each task is completed once, also if a listener denies it."""
        __tracebackhide__ = True
        for task in self.instance.user_tasks:
            mocked = task.element in self._mocks.user_tasks and task.key not in self._answered
            if mocked and task.state == "CREATED":
                self._answered.add(task.key)
                variables = variables_of(self._mocks.user_tasks[task.element], task.variables)
                self._check_form(task, variables)
                self._step(library.complete_user_task, task.key, variables)
                return True
        return False

    def _answer_message(self) -> bool:
        """Each wait gets its message once."""
        for wait in self.instance.waits:
            mocked = wait.kind == "MESSAGE" and wait.name in self._mocks.messages
            if mocked and wait.key not in self._answered:
                self._answered.add(wait.key)
                variables = variables_of(self._mocks.messages[wait.name], self.variables)
                self._step(library.publish, wait.name, wait.correlation_key, variables)
                return True
        return False

    def _answer_timer(self) -> bool:
        """The clock goes on to the due date of the timer. Earlier timers fire on the way."""
        for timer in self.instance.timers:
            if timer.element in self._mocks.timers and timer.key not in self._answered:
                self._answered.add(timer.key)
                self._step(library.advance, timer.due_at)
                return True
        return False
