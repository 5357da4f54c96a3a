"""The fixture `processes` against a running server: `pytest --vivero-url http://localhost:8080`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any, NoReturn

from vivero.client import ViveroClient
from vivero.client.answers import ApiError
from vivero.client.typed import requests
from vivero.client.typed.outcomes import Deployment
from vivero.library import Models, ThrownMessage, ThrownSignal
from vivero.testing.coverage import Coverage
from vivero.testing.forms import check_start_form
from vivero.testing.instances import ProcessRun
from vivero.testing.processes import Files, ModelCache, Processes
from vivero.testing.server_runs import NO_CLOCK, POLL_S, SUBSCRIBES_S, NotOnServers, ServerRun, publication

RETRY_S = 5.0
"""The time for which a request is repeated while no server takes it."""
STARTS_S = 5.0
"""The time in which a message or a signal starts the processes whose start events wait for it."""


class ServerProcesses(Processes):
    """Deploys the files of a test, and runs its instances on the server. The server keeps what is deployed."""

    def __init__(
        self,
        url: str,
        folders: Iterable[Path],
        coverage: Coverage | None = None,
        cache: ModelCache | None = None,
    ) -> None:
        """`url`: the server. Its credentials come from the environment. Raises BadAddress."""
        super().__init__(folders, coverage, cache)
        self._client = ViveroClient(url, retry_s=RETRY_S)
        self._deployed: Files | None = None
        self._at_server: list[ServerRun] = []

    def close(self) -> None:
        """Cancel the instances of the test that still run, so that they meet no other test. Raises ApiError."""
        failures = []
        try:
            for run in self._at_server:
                if not run.instance.ended:
                    try:
                        self._client.cancel(run.key)
                    except ApiError as error:
                        failures.append(error)
        finally:
            self._client.close()
        for failure in failures:
            if failure.status != 404:  # it has ended meanwhile
                raise failure

    # ---- what needs instances in memory

    def set_cluster_variable(self, name: str, value: Any, *, of_tenant: bool = False) -> NoReturn:
        """Raises NotOnServers."""
        raise NotOnServers(
            f"a test does not change the cluster variables of a server: set '{name}' there, by `vivero"
            " cluster-variables set`, or run this test without --vivero-url"
        )

    def advance(self, by: timedelta | None = None, **duration: float) -> NoReturn:
        """Raises NotOnServers."""
        raise NotOnServers(NO_CLOCK)

    def expect_migrations(self, *paths: str | Path, **options: Any) -> NoReturn:
        """Raises NotOnServers."""
        raise NotOnServers(
            "expect_migrations tries each wait state in memory: call migrate on an instance, or run this test without"
            " --vivero-url"
        )

    def expect_modifications(self, **options: Any) -> NoReturn:
        """Raises NotOnServers."""
        raise NotOnServers(
            "expect_modifications tries each wait state in memory: call modify on an instance, or run this test without"
            " --vivero-url"
        )

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
        """Deploy the files if they have changed, and start an instance of the newest version."""
        __tracebackhide__ = True
        models = self._models(self._files | self._mocked)
        named = process_id or self._only_process()
        if named is None:
            raise ValueError("the files have several processes: name the one to start")
        if check_form and at is None:
            check_start_form(models, named, variables)
        self._deploy_all(models)
        before = [] if at is None else [at]
        started = self._client.start(named, dict(variables), business_id=business_id, before=before)
        self._count(models)
        return self._at(models, started.key)

    def publish(self, name: str, correlation_key: str = "", variables: Mapping[str, Any] = {}) -> list[ProcessRun]:
        """Publish a message on the server. Returns the new instances of the test's processes."""
        __tracebackhide__ = True
        self._until_one_waits(name, correlation_key)
        return self._publish(self._live(), ThrownMessage(name, correlation_key, variables, 0, None))

    def _until_one_waits(self, name: str, correlation_key: str) -> None:
        """A subscription may take a moment. A message of which a process starts needs none."""
        if any(start.event.name == name for start in self._starts(("MESSAGE",))):
            return
        until = time.monotonic() + SUBSCRIBES_S
        while time.monotonic() < until:
            live = [run for run in self._at_server if not run.instance.ended]
            if any(run.waits_for(name, correlation_key) for run in live):
                return
            time.sleep(POLL_S)
            self._look()

    def _publish(self, runs: list[ProcessRun], message: ThrownMessage) -> list[ProcessRun]:
        time_to_live = timedelta(milliseconds=message.time_to_live_ms)
        request = publication(message.name, message.correlation_key, message.variables, time_to_live)
        named = [one.process_id for one in self._starts(("MESSAGE",)) if one.event.name == message.name]
        return self._started_by(named, lambda: self._client.send(request))

    def _broadcast(self, runs: list[ProcessRun], signal: ThrownSignal) -> list[ProcessRun]:
        request = requests.signal(signal.name, dict(signal.variables), None)
        named = [one.process_id for one in self._starts(("SIGNAL",)) if one.event.name == signal.name]
        return self._started_by(named, lambda: self._client.send(request))

    def _started_by(self, process_ids: Sequence[str], send: Callable[[], object]) -> list[ProcessRun]:
        """Send something, and look for the instances that it starts. Those of other clients are not told apart."""
        models = self._models(self._files | self._mocked)
        self._deploy_all(models)
        known = {id: self._newest(id) for id in process_ids}
        send()
        self._look()
        started: list[ProcessRun] = []
        until = time.monotonic() + STARTS_S
        while process_ids and not started:
            keys = [key for id in process_ids for key in self._newest(id) if key not in known[id]]
            started = [self._at(models, key) for key in keys]
            if time.monotonic() >= until:
                break
            time.sleep(POLL_S)
        if started:
            self._count(models)
        return started

    def _newest(self, process_id: str) -> list[str]:
        found = self._client.instances(process=process_id, sort="start_date", descending=True, page_items=NEWEST)
        return [one.process_instance_key for one, _ in zip(found, range(NEWEST), strict=False)]

    def _look(self) -> None:
        for run in self._at_server:
            if not run.instance.ended:
                run.look()

    def _at(self, models: Models, key: str) -> ServerRun:
        run = ServerRun(self._client, key, models, self._mocks, self._observe, self._with_files, self._deploy)
        self._runs.append(run)
        self._at_server.append(run)
        return run

    def _deploy_all(self, models: Models) -> None:
        """Deploy the files of the test, if others were deployed last. Raises ClientError."""
        if self._deployed != models.files:
            self._deploy(models.files)

    def _deploy(self, files: Mapping[str, bytes]) -> Deployment:
        deployed = self._client.deploy(*((Path(name).as_posix(), content) for name, content in files.items()))
        self._deployed = dict(files)
        return deployed


NEWEST = 50
"""Instances of a process among which new ones are looked for."""
