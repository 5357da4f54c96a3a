"""Trees that are read back from the tables equal those in memory, links and weights included."""

from random import Random

import pytest
import trio

from tests.core.engine import snapshot
from tests.core.models import ONE_TASK
from tests.core.randomised.paths import perform
from tests.core.randomised.runs import recorded
from tests.engine.consumer.serial_runs import Serial, save_serially
from vivero.core.needs import Lease, Need, NeedKind
from vivero.core.state.state import State
from vivero.storage.state import load

NOT_LOADED = {"starts", "next_key"}
"""Fields of a snapshot that come with other needs, or from the cursor."""


@pytest.fixture
def serial(seed):
    """Runs of three processes, each stopped somewhere, with an instance that has ended and one that has just begun."""
    random = Random(seed)
    serial = Serial()
    for number in range(3):
        run = recorded(seed + number, 12, f"p{number}")
        serial.deploy(run.model)
        key = serial.start(run.id, **run.variables)
        for action in run.actions[: random.randint(0, 8)]:
            serial.memory.now += 7
            perform(serial, key, action)
    serial.deploy(ONE_TASK)
    serial.start()
    serial.complete("work")
    serial.start()
    serial.fail("work", message="boom")
    return serial


def comparable(state):
    whole = snapshot(state)
    return {name: _sorted(part) for name, part in whole.items() if name not in NOT_LOADED}


def _sorted(part):
    """Rows in the order of their keys: in memory they stand in that of their making, tree by tree when loaded."""
    if isinstance(part, dict):
        return {name: _sorted(inner) for name, inner in sorted(part.items(), key=lambda item: str(item[0]))}
    if isinstance(part, list) and part and isinstance(part[0], dict):
        return sorted(part, key=lambda row: (row["key"], str(row)))
    return part


def without_leases(part):
    """The lease is not the engine's to know."""
    for job in part["rows"]["jobs"]:
        job["lease"] = job["available_at"] = None
    return part


KINDS = {
    NeedKind.INSTANCE: lambda state: list(state.trees),
    NeedKind.ELEMENT: lambda state: [next(iter(tree.root.children)) for tree in state.trees.values()],
}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
async def test_trees_are_read_back_as_they_were(connection, serial, kind):
    await save_serially(connection, serial)
    state = State(1)
    needs = [Need(kind, key) for key in KINDS[kind](serial.state)]
    needs += [Need(NeedKind.FAMILY, family) for family in serial.state.catalogue.families]
    await load.fill(connection, state, needs)
    expected = without_leases(comparable(serial.state))
    assert without_leases(comparable(state)) == expected
    assert {key: tree.revision for key, tree in state.trees.items()} == {
        key: tree.revision for key, tree in serial.state.trees.items()
    }


class Turns(trio.abc.Instrument):
    """Counts the steps of all tasks between two looks of the loop at its sockets."""

    def __init__(self) -> None:
        self.looks = 0

    def before_io_wait(self, timeout):
        self.looks += 1


async def test_many_rows_are_taken_in_turn_by_turn(connection, serial, monkeypatch):
    """Turns of any size load the same rows, and small turns yield to the loop as often."""
    await save_serially(connection, serial)
    needs = [Need(NeedKind.INSTANCE, key) for key in serial.state.trees]
    states, looks = [], []
    for rows in (1_000_000, 1):
        monkeypatch.setattr(load, "ROWS_A_TURN", rows)
        state, turns = State(1), Turns()
        trio.lowlevel.add_instrument(turns)
        await load.fill(connection, state, needs)
        trio.lowlevel.remove_instrument(turns)
        states.append(comparable(state))
        looks.append(turns.looks)
    assert states[0] == states[1]
    variables = sum(len(element.variables) for element in state.elements.values())
    assert looks[1] >= len(state.elements) + variables


@pytest.mark.parametrize("kind", [NeedKind.JOB, NeedKind.INCIDENT])
async def test_a_tree_is_found_by_what_is_in_it(connection, serial, kind):
    await save_serially(connection, serial)
    rows = serial.state.jobs if kind is NeedKind.JOB else serial.state.incidents
    for key, row in rows.items():
        state = State(1)
        await load.fill(connection, state, [Need(kind, key)])
        assert list(state.trees) == [row.element.tree.key]
        assert key in (state.jobs if kind is NeedKind.JOB else state.incidents)
        assert row.element.instance.definition_key in state.catalogue.definitions, "with what it runs by"
        assert state.catalogue.usage[row.element.instance.definition_key].running > 0


async def test_what_has_ended_is_not_loaded(connection, serial):
    await save_serially(connection, serial)
    ended = [row["key"] for (table, _), row in serial.rows.items() if "ended_at" in row and row["ended_at"] is not None]
    state = State(1)
    kinds = (NeedKind.INSTANCE, NeedKind.ELEMENT, NeedKind.JOB, NeedKind.INCIDENT)
    await load.fill(connection, state, [Need(kind, key) for key in ended for kind in kinds])
    assert ended
    assert snapshot(state) == snapshot(State(1))


async def test_what_the_state_has_is_not_read_again(connection, serial):
    """It may be newer than the tables."""
    await save_serially(connection, serial)
    await connection.execute("UPDATE variables SET value = '\"changed behind our back\"'")
    await connection.execute("UPDATE process_definitions SET state = 'DELETED'")
    before = snapshot(serial.state)
    needs = [Need(NeedKind.INSTANCE, key) for key in serial.state.trees]
    needs += [Need(NeedKind.JOB, key) for key in serial.state.jobs]
    needs += [Need(NeedKind.FAMILY, family) for family in serial.state.catalogue.families]
    await load.fill(connection, serial.state, needs)
    assert snapshot(serial.state) == before


async def test_a_process_that_nobody_deployed_is_known_to_be_unknown(connection):
    state = State(1)
    await load.fill(connection, state, [Need(NeedKind.FAMILY, ("t", "nothing")), Need(NeedKind.DEFINITION, 77)])
    assert state.catalogue.families == {("t", "nothing"): {}}
    assert state.catalogue.definitions == {}


async def test_leases_are_read_each_time(connection, serial):
    await save_serially(connection, serial)
    job = next(iter(serial.state.jobs))
    need = Need(NeedKind.LEASE, job)
    assert (await load.fill(connection, serial.state, [need])).leases == {job: None}
    token = "00000000-0000-4000-8000-000000000000"
    lease = "UPDATE jobs SET lease_token = $1::uuid, available_at = from_epoch_ms(5) WHERE job_key = $2"
    await connection.execute(lease, (token, job))
    assert (await load.fill(connection, serial.state, [need])).leases == {job: Lease(token, 5)}
    assert (await load.fill(connection, serial.state, [Need(NeedKind.LEASE, 77)])).leases == {}
