"""The processes of one test: models, mocks, a clock, and the instances that run."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

from vivero import library
from vivero.library import Models, Result, ThrownMessage, ThrownSignal
from vivero.library.functions import FIRST_KEY
from vivero.testing.coverage import Coverage
from vivero.testing.files import find_file
from vivero.testing.forms import check_start_form
from vivero.testing.instances import Paths, ProcessRun
from vivero.testing.mocks import CALLED_JOB, Answer, Mocks, OwnWorker, mocked_process
from vivero.testing.scripts import Script
from vivero.testing.starts import TIMERS, StartEvent, StartTimers, start_events
from vivero.testing.walks import OperationTrials, WaitState, wait_states

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
"""The time at which each test begins, by its own clock."""

KEYS_A_RUN = 1_000_000
"""The keys of the instances of a test differ."""

MOST_DELIVERED = 10_000
"""Messages and signals that the instances of a test throw. Processes that start each other would never end."""

MOST_STARTED = 10_000
"""Instances that timers start while the time goes on once. A cycle of a second has 31 million in a year."""

Files = dict[str, bytes]


class ModelCache:
    """Models by their files and the order of these. A session parses each list of files once."""

    def __init__(self) -> None:
        self._known: dict[bytes, Models] = {}

    def get(self, files: Files) -> Models:
        digest = sha256(repr(list(files.items())).encode()).digest()
        if digest not in self._known:
            self._known[digest] = Models(files)
        return self._known[digest]


class Processes:
    """The fixture `processes`. `now` is the time at which the next instance starts."""

    def __init__(
        self, folders: Iterable[Path], coverage: Coverage | None = None, cache: ModelCache | None = None
    ) -> None:
        """`folders`: where relative paths of models are looked for."""
        self._folders = tuple(folders)
        self._coverage = Coverage() if coverage is None else coverage
        self._cache = ModelCache() if cache is None else cache
        self._files: Files = {}
        self._mocked: Files = {}
        self._mocks = Mocks()
        self._of_cluster: dict[str, Any] = {}
        self._of_tenant: dict[str, Any] = {}
        self._runs: list[ProcessRun] = []
        self._used_at: dict[str, datetime] = {}
        """Name of a file → the time of its first use."""
        self._start_timers = StartTimers()
        self._start_events: tuple[StartEvent, ...] | None = None
        """Those of the files; None: not asked for since the last change of the files."""
        self._numbers = count()
        self._locks: dict[tuple[str, str], ProcessRun | None] = {}
        """Process id and correlation key → the instance that a message with the key has started."""
        self._thrown: deque[tuple[ProcessRun, ThrownMessage | ThrownSignal]] = deque()
        self._delivered = 0
        self._file_of: dict[str, str] = {}
        """Process id → file."""
        self.now = BEGIN

    def use(self, *given: str | Path | OwnWorker | ModuleType) -> Processes:
        """Use files of any kind, and workers: their functions work the jobs that have no mock.

        Relative paths begin at the folder of the test, or at pytest's root. A module stands for its workers.

        Raises:
            FileNotFoundError: there is no such file.
            TypeError, ValueError: a job type has two functions, or there is no worker in what was given.
        """
        paths = tuple(each for each in given if isinstance(each, str | Path))
        for each in given:
            if not isinstance(each, str | Path):
                self._use_workers(each)
        read = self._read(paths)
        self._files |= read
        self._start_events = None
        self._used_at = dict.fromkeys(read, self.now) | self._used_at
        return self

    def _use_workers(self, given: OwnWorker | ModuleType) -> None:
        if self._mocks.workers is None:
            from vivero.testing.workers import OwnWorkers  # it needs much that other tests do not

            self._mocks.workers = OwnWorkers()
        self._mocks.workers.add(given)

    def set_cluster_variable(self, name: str, value: Any, *, of_tenant: bool = False) -> Processes:
        """Set a cluster variable, of the whole cluster or of the tenant. Expressions see it from the next step on."""
        (self._of_tenant if of_tenant else self._of_cluster)[name] = value
        return self

    # ---- mocks

    def mock_job(self, type: str, answer: Answer = None) -> Processes:
        """Complete all jobs of a type by themselves, with variables, or with those that a function gives.

        The function gets the visible variables. It may raise BpmnError and JobFailure.
        """
        self._mocks.jobs[type] = answer
        return self

    def mock_user_task(self, element: str, answer: Answer = None) -> Processes:
        """Complete the user tasks of an element by themselves."""
        self._mocks.user_tasks[element] = answer
        return self

    def mock_message(self, name: str, answer: Answer = None) -> Processes:
        """Publish a message to each element that waits for one of this name, once."""
        self._mocks.messages[name] = answer
        return self

    def mock_timer(self, element: str) -> Processes:
        """Let the timer of an element fire as soon as nothing else is to be done: the clock goes on to its due date."""
        self._mocks.timers.add(element)
        return self

    def mock_model(self, element: str, answers: Script) -> Processes:
        """Let the model of an agent give these answers, in this order, or those of a function. Nobody is called.

        `element`: the ad-hoc sub-process or the task of the agent. Each instance begins with the first answer.
        """
        if self._mocks.models is None:
            from vivero.testing.models import ScriptedModels  # it needs much that other tests do not

            self._mocks.models = ScriptedModels()
        self._mocks.models.use(element, answers)
        return self

    def mock_process(self, process_id: str, answer: Answer = None) -> Processes:
        """Let call activities call a process that only gives variables. A function gets those it is called with."""
        name, content = mocked_process(process_id)
        self._mocked[name] = content
        self._mocks.jobs[CALLED_JOB + process_id] = answer
        return self

    # ---- instances

    def start(
        self,
        process_id: str | None = None,
        variables: Mapping[str, Any] = {},
        *,
        at: str | None = None,
        business_id: str | None = None,
        check_form: bool = True,
    ) -> ProcessRun:
        """Start an instance. `process_id` is optional if the files have one process only. `at`: an element to start at.

        `check_form`: with variables that the form for the start accepts, if it is among the files.

        Raises:
            AssertionError: the form does not accept the variables.
            InvalidModel: a file has problems.
            Rejected: there is no such process or element.
        """
        __tracebackhide__ = True
        models = self._models(self._files | self._mocked)
        if check_form and at is None:
            check_start_form(models, process_id or self._only_process(), variables)
        result = self._started(models, process_id, variables, at=at, business_id=business_id)
        self._count(models)
        return self._run_of(models, result)

    def expect_migrations(
        self,
        *paths: str | Path,
        mappings: Mapping[str, str] | None = None,
        variables: Mapping[str, Any] = {},
        process_id: str | None = None,
        at: str | None = None,
        undo: bool = False,
    ) -> list[ProcessRun]:
        """An instance in each wait state that it can reach migrates to its process in the files of these paths.

        Mocks say how an instance goes on; without a mock it goes on without variables. `mappings`: source id → target
        id; None: what the server suggests. `undo`: each migration can be taken back, too. Returns the migrated
        instances, which go on with the mocks.

        Raises AssertionError: it names the states that cannot migrate, with all reasons.
        """
        __tracebackhide__ = True
        target = self._with_files(self._models(self._files | self._mocked), paths)

        def migrated(instance: Result) -> Result:
            return library.migrate(target, instance.snapshot, mappings)

        states = self._wait_states(process_id, variables, at)
        return self._operated(states, OperationTrials("migrate", target, migrated, undo))

    def expect_modifications(
        self,
        *,
        activate: Iterable[str] = (),
        terminate: Iterable[str] = (),
        move: Mapping[str, str] = {},
        variables: Mapping[str, Any] = {},
        process_id: str | None = None,
        at: str | None = None,
        undo: bool = False,
    ) -> list[ProcessRun]:
        """An instance in each wait state that it can reach is modified, if all elements that end are active in it.

        `variables`: those with which it starts. `undo`: each modification can be taken back, too. Mocks and results are
        those of `expect_migrations`.

        Raises AssertionError: it names the states that cannot be modified, or there is no state to modify.
        """
        __tracebackhide__ = True
        models = self._models(self._files | self._mocked)
        ending = {*terminate, *move}
        begin, end = tuple(activate), tuple(terminate)

        def modified(instance: Result) -> Result:
            return library.modify(models, instance.snapshot, activate=begin, terminate=end, move=move)

        found = list(self._wait_states(process_id, variables, at))
        states = [one for one in found if ending <= {element.id for element in one.result.instance.elements}]
        if not states:
            raise AssertionError(f"In none of {len(found)} wait states all of {sorted(ending)} are active.")
        return self._operated(states, OperationTrials("be modified", models, modified, undo))

    def _wait_states(self, process_id: str | None, variables: Mapping[str, Any], at: str | None) -> Iterator[WaitState]:
        models = self._models(self._files | self._mocked)
        return wait_states(models, self._mocks, self._started(models, process_id, variables, at=at))

    def _operated(self, states: Iterable[WaitState], trials: OperationTrials) -> list[ProcessRun]:
        """An instance for each state after the operation. Raises AssertionError."""
        __tracebackhide__ = True
        return [self._run_of(trials.models, result) for result in trials.of(states)]

    def _started(
        self,
        models: Models,
        process_id: str | None,
        variables: Mapping[str, Any],
        *,
        at: str | None,
        business_id: str | None = None,
    ) -> Result:
        return library.start(
            models,
            variables,
            now=self.now,
            process_id=self._only_process() if process_id is None else process_id,
            at=at,
            business_id=business_id,
            key=FIRST_KEY + next(self._numbers) * KEYS_A_RUN,
        )

    def _run_of(self, models: Models, result: Result) -> ProcessRun:
        run = ProcessRun(models, self._mocks, result, self._observe, self._with_files)
        self._runs.append(run)
        return run

    def _models(self, files: Files) -> Models:
        """The models of files, with the cluster variables of the test, also those that are set later."""
        return self._cache.get(files).with_cluster_variables(self._of_cluster, self._of_tenant)

    def _with_files(self, models: Models, paths: Paths) -> Models:
        """The models, and behind them those of further files, which have the newer versions."""
        return self._models(models.files | self._read(paths))

    def _read(self, paths: Paths) -> Files:
        return {str(path): find_file(self._folders, path).read_bytes() for path in paths}

    def publish(self, name: str, correlation_key: str = "", variables: Mapping[str, Any] = {}) -> list[ProcessRun]:
        """Publish a message to all instances of the test, and start processes whose start events wait for it.

        A process of which an instance has taken the message, or an earlier message with the key has started one that
        runs, is not started. Returns the new instances.
        """
        __tracebackhide__ = True
        return self._publish(self._live(), ThrownMessage(name, correlation_key, variables, 0, None))

    def broadcast(self, name: str, variables: Mapping[str, Any] = {}) -> list[ProcessRun]:
        """Broadcast a signal to all instances of the test, and start processes whose start events wait for it.

        Returns the new instances.
        """
        __tracebackhide__ = True
        return self._broadcast(self._live(), ThrownSignal(name, variables))

    def advance(self, by: timedelta | None = None, **duration: float) -> list[ProcessRun]:
        """Let the time pass for all instances of the test, and for those that start later.

        Timer start events start processes at their due dates. Returns the new instances.
        """
        __tracebackhide__ = True
        until = self.now + (timedelta(**duration) if by is None else by)
        started: list[ProcessRun] = []
        while (timer := self._start_timers.next(self._starts(TIMERS), self._used_at)) and timer.due_at <= until:
            self._go_on_to(max(timer.due_at, self.now))
            self._start_timers.fired(timer)
            if len(started) == MOST_STARTED:
                raise AssertionError(f"Timers have started {MOST_STARTED} instances until {self.now}.")
            started.append(self.start(timer.start.process_id, at=timer.start.event.element))
        self._go_on_to(until)
        return started

    def _go_on_to(self, time: datetime) -> None:
        self.now = time
        for run in self._live():
            run.advance(max(time - run.now, timedelta(0)))

    def _starts(self, kinds: Collection[str]) -> list[StartEvent]:
        if self._start_events is None:
            self._start_events = tuple(start_events(self._cache.get(self._files)))
        return [start for start in self._start_events if start.event.kind in kinds]

    def _publish(self, runs: list[ProcessRun], message: ThrownMessage) -> list[ProcessRun]:
        name, key = message.name, message.correlation_key
        took: set[str] = set()
        for run in runs:
            if any((wait.name, wait.correlation_key) == (name, key) for wait in run.instance.waits):
                took.add(run.instance.process_id)
            run.publish(name, key, message.variables, seconds=message.time_to_live_ms / 1000)
        started: list[ProcessRun] = []
        for start in self._starts(("MESSAGE",)):
            lock = (start.process_id, key)
            if start.event.name == name and start.process_id not in took and not self._is_locked(lock):
                self._locks[lock] = None  # held while the instance starts, which may throw the message itself
                run = self.start(start.process_id, message.variables, at=start.event.element)
                self._locks[lock] = run
                started.append(run)
        return started

    def _is_locked(self, lock: tuple[str, str]) -> bool:
        """Whether an instance runs that a message with the same key has started. Without a key there is no lock."""
        holder = self._locks.get(lock)
        return bool(lock[1]) and lock in self._locks and (holder is None or not holder.instance.ended)

    def _broadcast(self, runs: list[ProcessRun], signal: ThrownSignal) -> list[ProcessRun]:
        for run in runs:
            run.broadcast(signal.name, signal.variables)
        named = [start for start in self._starts(("SIGNAL",)) if start.event.name == signal.name]
        return [self.start(one.process_id, signal.variables, at=one.event.element) for one in named]

    def _live(self, besides: ProcessRun | None = None) -> list[ProcessRun]:
        return [run for run in self._runs if run is not besides and not run.instance.ended]

    def _observe(self, run: ProcessRun, result: Result) -> None:
        """Note what was reached, and deliver what elements throw to the other instances, in its order."""
        __tracebackhide__ = True
        self._coverage.add_reached(self._file_of, result.happened.reached)
        delivers = bool(self._thrown)
        self._thrown += [(run, message) for message in result.happened.messages]
        self._thrown += [(run, signal) for signal in result.happened.signals]
        if not delivers:
            self._deliver_all()

    def _deliver_all(self) -> None:
        __tracebackhide__ = True
        try:
            while self._thrown:
                self._deliver(*self._thrown[0])
                self._thrown.popleft()
        finally:
            self._thrown.clear()

    def _deliver(self, run: ProcessRun, thrown: ThrownMessage | ThrownSignal) -> None:
        __tracebackhide__ = True
        self._delivered += 1
        if self._delivered > MOST_DELIVERED:
            raise AssertionError(f"The instances have thrown {MOST_DELIVERED} messages and signals.\n{run.describe()}")
        if isinstance(thrown, ThrownMessage):
            self._publish(self._live(run), thrown)
        else:
            self._broadcast(self._live(run), thrown)

    def _only_process(self) -> str | None:
        ids = self._cache.get(self._files).process_ids()
        return ids[0] if len(ids) == 1 else None

    def _count(self, models: Models) -> None:
        """Count the processes of the files in the coverage, but not those of mocks."""
        for digest, processes in models.resources.items():
            name = models.name_of(digest)
            for process in processes.values():
                if name not in self._mocked:
                    self._coverage.add_model(name, process, find_file(self._folders, name))
                    self._file_of[process.id] = name
