"""Decisions on two nodes that are killed: deployments, evaluations and deletions happen once; a backup has them all."""

import time
from random import Random

import psycopg
import pytest
import trio

from tests.chaos import replayed
from tests.core.decision_models import file, prices
from tests.core.dmn.models import decision, literal, table
from tests.eventually import eventually
from tests.process.http_client import Caller, Unanswered
from tests.process.load import send_files
from tests.process.metrics import metrics
from vivero.operations import backups

pytestmark = pytest.mark.long

FILES, DECISIONS, EVALUATIONS, KILLS = 10, 20, 150, 4
AGAIN = (502, 503, 504)
EVALUATION = ("POST", "/v2/decision-definitions/evaluation")
DELETION = ("POST", "/v2/decision-instances/deletion")
EVERYTHING = {"filter": {"state": {"$in": ["EVALUATED", "FAILED"]}}}


class Cluster:
    """Two programs, of which one is killed and started again behind some of the answers."""

    def __init__(self, programs, rng) -> None:
        self.programs, self.rng, self.kills = programs, rng, 0
        self.answered = trio.Event()

    async def ask(self, send):
        """The answer of a program that gives one: `send(caller)` may be repeated, because it has an idempotency key."""

        async def once():
            async with Caller(self.rng.choice(self.programs).port) as caller:
                return await send(caller)

        answer = await eventually(
            once, "an answer", accept=lambda got: got.status not in AGAIN, within_s=180, despite=(Unanswered,)
        )
        self.answered.set()
        self.answered = trio.Event()
        return answer

    async def call(self, key, method, path, body):
        headers = [("Idempotency-Key", key)]
        return await self.ask(lambda caller: caller.call(method, path, body, headers=headers, within_s=20.0))

    async def kill(self):
        program = self.rng.choice(self.programs)
        await program.kill()
        self.kills += 1
        await program.restart()


def files():
    """Name → text. The value of decision `d<file>_<number>` is its number and one."""
    return {
        f"f{n}.dmn": file(
            *(decision(f"d{n}_{number}", literal(f"{number} + 1")) for number in range(DECISIONS)), id=f"f{n}"
        ).decode()
        for n in range(FILES)
    } | {"shop.dmn": prices().decode()}


async def deploy(cluster):
    for name, text in files().items():
        headers = [("Idempotency-Key", f"deploy-{name}")]
        answer = await cluster.ask(lambda caller, one={name: text}, key=headers: send_files(caller, one, key))
        assert answer.status == 200, answer


async def evaluate(cluster):
    """Evaluate some decisions, one after the other. The keys of the evaluations."""
    keys = set()
    for number in range(EVALUATIONS):
        which = cluster.rng.randrange(DECISIONS)
        body = {"decisionDefinitionId": f"d{cluster.rng.randrange(FILES)}_{which}"}
        answer = await cluster.call(f"evaluate-{number}", *EVALUATION, body)
        assert (answer.status, answer.json.get("output")) == (200, str(which + 1)), answer
        keys.add(int(answer.json["decisionEvaluationKey"]))
    return keys


async def beside_kills(cluster, work):
    """The result of some work during which programs are killed."""
    found = []

    async def run():
        found.append(await work(cluster))
        scope.cancel()

    async with trio.open_nursery() as nursery:
        scope = trio.CancelScope()
        nursery.start_soon(run)
        with scope:
            for _ in range(KILLS):
                for _ in range(cluster.rng.randint(1, 3)):
                    await cluster.answered.wait()
                await cluster.kill()
    for program in cluster.programs:
        if not program.running:  # the work ended between the kill and the restart
            await program.restart()
    return found[0]


async def delete(cluster):
    """The batch operation, which has ended."""
    answer = await cluster.call("delete", *DELETION, EVERYTHING)
    assert answer.status == 200, answer
    path = f"/v2/batch-operations/{answer.json['batchOperationKey']}"

    async def read():
        return (await cluster.ask(lambda caller: caller.call("GET", path, within_s=20.0))).json

    return await eventually(read, accept=lambda batch: batch["state"] not in ("CREATED", "ACTIVE"), within_s=180)


async def test_nothing_is_lost_or_done_twice(pair, database, random_faults, make_program, unsafe, tmp_path, replicas):
    cluster = Cluster(pair, random_faults)
    with psycopg.connect(database, autocommit=True) as connection:

        def value(query):
            return connection.execute(query).fetchone()[0]

        await beside_kills(cluster, deploy)
        assert value("SELECT count(*) FROM decision_definitions") == FILES * DECISIONS + 2
        assert value("SELECT max(version) FROM decision_definitions") == 1
        keys = await beside_kills(cluster, evaluate)
        assert len(keys) == EVALUATIONS
        assert value("SELECT count(*) FROM decision_instances") == EVALUATIONS
        assert value("SELECT count(DISTINCT decision_evaluation_key) FROM decision_instances") == EVALUATIONS
        print(f"{cluster.kills} kills")
        assert cluster.kills > 1
        manifest = await backups.take(database, tmp_path / "backup", jobs=1, progress=lambda *_: None)
        batch = await beside_kills(cluster, delete)
        counts = batch["state"], batch["operationsTotalCount"], batch["operationsCompletedCount"]
        assert counts == ("COMPLETED", EVALUATIONS, EVALUATIONS)
        assert value("SELECT count(*) FROM decision_instances") == 0
        assert (
            value("SELECT count(*) FROM audit_log WHERE entity_type = 'DECISION' AND operation = 'DELETE'")
            == EVALUATIONS
        )
        await goes_on_from(manifest, replicas, make_program, tmp_path)


async def goes_on_from(manifest, replicas, make_program, tmp_path):
    """A program on the restored backup evaluates what was deployed, and has what was evaluated. Replay agrees."""
    server = replicas("restored")
    await server.initialise()
    await backups.restore(server.dsn, tmp_path / "backup", manifest, lambda *_: None)
    program = make_program("--database-url", server.dsn, name="restored")
    await program.restart()
    async with Caller(program.port) as caller:
        body = {"decisionDefinitionId": "Price", "variables": {"total": 200, "customer": "gold"}}
        answer = await caller.call(*EVALUATION, body)
        assert answer.json["output"] == "180"
        found = await caller.call("POST", "/v2/decision-instances/search", {})
        assert found.json["page"]["totalItems"] == EVALUATIONS + 2
    program.end()
    assert await replayed.check(server.dsn) > 0


MANY, IN_A_REQUEST, AT_ONCE = 5_000, 100, 16
CACHE_BYTES = 5_000_000


def table_of(number):
    """A file with one table, whose result is the number."""
    rows = [[f"? * {rule} > {number}", str(number)] for rule in range(3)]
    return file(decision(f"t{number}", table(["x"], ["out"], rows, "FIRST")), id=f"t{number}").decode()


async def beside_each_other(numbers, work):
    """Do the work for all numbers, some at a time."""
    todo = iter(numbers)

    async def run():
        for number in todo:
            await work(number)

    async with trio.open_nursery() as nursery:
        for _ in range(AT_ONCE):
            nursery.start_soon(run)


async def test_both_nodes_evaluate_thousands_of_decisions_in_little_memory(make_program, database, unsafe, seed):
    """The cache has room for a few hundred of them: the others are compiled again when they are asked for."""
    settings = unsafe | {"VIVERO_DEFINITIONS_BYTES": str(CACHE_BYTES), "VIVERO_PARTITIONS": "2"}
    pair = [make_program("--database-url", database, environment=settings, name=name) for name in ("a", "b")]
    for program in pair:
        await program.restart()
    async with Caller(pair[0].port) as caller:
        for first in range(0, MANY, IN_A_REQUEST):
            numbers = range(first, first + IN_A_REQUEST)
            answer = await send_files(caller, {f"t{number}.dmn": table_of(number) for number in numbers})
            assert answer.status == 200, answer
    before = [program.memory[0] for program in pair]
    numbers, began = Random(seed).sample(range(MANY), MANY), time.perf_counter()

    async def ask(number):
        body = {"decisionDefinitionId": f"t{number}", "variables": {"x": MANY}}
        async with Caller(pair[number % 2].port) as caller:
            answer = await caller.call(*EVALUATION, body)
        assert (answer.status, answer.json.get("output")) == (200, str(number)), answer

    await beside_each_other(numbers, ask)
    took, after = time.perf_counter() - began, [program.memory for program in pair]
    print(f"seed {seed}: {MANY / took:.0f} evaluations/s; MB before, now and at the peak: {before}, {after}")
    assert all(peak < 250 for _, peak in after)
    found = [await metrics(program) for program in pair]
    sizes = [each.sum("vivero_definitions_size_bytes") for each in found]
    evicted = [each.sum("vivero_definitions_evictions_total") for each in found]
    assert all(0 < size <= CACHE_BYTES for size in sizes), sizes
    assert sum(evicted) > MANY / 2, evicted
    for program in pair:
        program.end()  # before their database goes
