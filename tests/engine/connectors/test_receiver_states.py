"""Receivers that fail: the pause before the next run, and the state that is shown meanwhile."""

from itertools import pairwise
from types import SimpleNamespace

import pytest
import trio
import trio.testing

from vivero.engine.connectors.contracts.brokers.rabbitmq import RABBITMQ_INBOUND
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.inbound.elements import InboundElement
from vivero.engine.connectors.receivers.receiver import Deployed, is_done
from vivero.engine.connectors.receivers.states import ReceiverState
from vivero.engine.connectors.receivers.task import MOST_PAUSE_S, Receivers, RunningReceiver


def deployed(**properties):
    element = InboundElement("e", None, properties)
    return Deployed("t", "p", 1, True, RABBITMQ_INBOUND, element)


@pytest.mark.parametrize("worked", [ReceiverState.works, ReceiverState.took])
async def test_the_pause_grows_until_the_other_system_answers(autojump_clock, nursery, worked):
    runs = []

    class Failing:
        def __init__(self, _parts, _deployed, state) -> None:
            self._state = state

        async def run(self):
            runs.append(trio.current_time())
            if len(runs) == 12:
                worked(self._state)
            if len(runs) == 15:
                nursery.cancel_scope.cancel()
            raise ConnectorError("CONNECTION_FAILED", "away")

    receivers = Receivers(None, None, SimpleNamespace(random=lambda: 1.0), "a", make=Failing)
    await receivers.keep(RunningReceiver(deployed()))
    pauses = [round(after - before) for before, after in pairwise(runs)]
    assert pauses == [2, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300, 1, 2, 4]
    assert max(pauses) == MOST_PAUSE_S


async def test_a_failure_of_one_event_is_no_lasting_state(mock_clock, nursery):
    async def outcome(error=None):
        if error is not None:
            raise ConnectorError(error, "no")
        return False

    state = ReceiverState()
    nursery.start_soon(state.recover)
    assert not await is_done(deployed(), state, outcome("INVALID_EVENT"))
    assert (state.state, state.error) == ("FAILING", "INVALID_EVENT: no")
    found = []
    for _ in range(3):
        await trio.testing.wait_all_tasks_blocked()
        found.append(state.state)
        mock_clock.jump(10)
    assert found == ["FAILING", "FAILING", "ACTIVE"]
    assert not await is_done(deployed(), state, outcome("BAD_MAIL"))
    assert not await is_done(deployed(), state, outcome())
    assert state.state == "ACTIVE", "an event that does not meet the condition is a success, too"
    assert await is_done(deployed(consumeUnmatchedEvents="true"), state, outcome())
    with pytest.raises(ConnectorError, match="UNAVAILABLE"):
        await is_done(deployed(), state, outcome("UNAVAILABLE"))
    nursery.cancel_scope.cancel()
