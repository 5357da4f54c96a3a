"""The inbound connector `io.camunda.agenticai:a2aclient:polling:0`: asks for a task of an agent until it has ended."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import trio

from vivero.engine.connectors.a2a.client import AgentClient
from vivero.engine.connectors.a2a.operations import MOST_HISTORY
from vivero.engine.connectors.a2a.results import answer_result
from vivero.engine.connectors.errors import ConnectorError, bad_input
from vivero.engine.connectors.http.requests import read_url
from vivero.engine.connectors.receivers.polls import Polls
from vivero.engine.connectors.receivers.receiver import Deployed, ReceiverParts
from vivero.engine.connectors.receivers.states import ReceiverState
from vivero.engine.connectors.work.calls import Call
from vivero.engine.connectors.work.inputs import Inputs


class AgentPolls(Polls):
    """Polls for the tasks of agents."""

    looks_each, asks_each = "data.processPollingInterval", "data.taskPollingInterval"

    def __init__(self, parts: ReceiverParts, deployed: Deployed, state: ReceiverState) -> None:
        super().__init__(parts, deployed, state)
        self._client = AgentClient(parts.client, None)

    async def answer(self, call: Call) -> Mapping[str, Any]:
        """The answer of the agent so far. Its files are stored when it meets the condition, and not before."""
        inputs = Inputs(self._deployed.contract, call.inputs)
        given = inputs.context("data.clientResponse")
        response = given.get("result", given)
        if isinstance(response, dict) and response.get("kind") == "message":
            return event_of(response)  # the agent has answered already
        params = {"id": _task(given, response), "historyLength": inputs.whole("data.historyLength", 0, MOST_HISTORY)}
        try:
            with trio.fail_after(self._parts.settings.max_call_s):
                async with self._parts.place_of(read_url(inputs.line("data.connection.url")).host):
                    agent = await self._client.agent(inputs, call.used)
                    answer = await self._client.call(agent, "tasks/get", params, call.job.job_key)
        except trio.TooSlowError:
            raise ConnectorError("TIMEOUT", "the agent did not answer within the time limit") from None
        seen = event_of(call.used.mask(await answer_result(answer, _not_stored)))
        if not await self._parts.commands.accepts(self._deployed.origin, seen):
            return seen
        return event_of(call.used.mask(await answer_result(answer, partial(self._store, call))))

    async def _store(self, call: Call, kind: str, content: bytes, name: str | None) -> Mapping[str, Any]:
        if (documents := self._parts.documents) is None:
            raise ConnectorError("UNAVAILABLE", "documents are not supported here")
        async with documents.turn():
            return await documents.store(call.job, kind, await call.used.mask_file(content), name)


def event_of(result: Mapping[str, Any]) -> dict[str, Any]:
    """The event: expressions see the result, and its fields by themselves."""
    return {**result, "result": dict(result)}


def _task(given: Mapping[str, Any], response: Any) -> str:
    """The id of the task, as the connector gave it to the process."""
    polling = given.get("pollingData")
    places = (polling, response)
    found = next((place["id"] for place in places if isinstance(place, dict) and place.get("id")), None)
    if not isinstance(found, str):
        raise bad_input("data.clientResponse has no task: it must be the response of the A2A connector")
    return found


async def _not_stored(kind: str, _content: bytes, name: str | None) -> Mapping[str, Any]:
    """A file that is not stored yet."""
    return {"fileName": name, "contentType": kind}
