"""Recorded agents of a process instance run again: each turn is compared with the record, or sent to a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from json import loads
from typing import Any

from vivero.config.sections import Config
from vivero.core.agents.errors import AgentError
from vivero.core.agents.loop import Respond, take
from vivero.core.agents.memory.context import AssistantMessage, ToolCall
from vivero.core.agents.reruns.turns import (
    MissingResult,
    RecordedResults,
    Turn,
    again,
    answer_of,
    difference,
    instructed,
)
from vivero.core.agents.responses import response_of
from vivero.core.agents.results import text_of
from vivero.core.feel import EvaluationError, to_json
from vivero.engine.connectors.agents import reruns
from vivero.engine.connectors.agents.call_records import ANSWERED
from vivero.engine.connectors.agents.reruns import RecordedAgent
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.work import secrets
from vivero.engine.connectors.work.secrets import BadSecrets
from vivero.storage.background import agents
from vivero.storage.postgres.driver import Connection
from vivero.storage.reads import agent_calls
from vivero.storage.reads.agent_calls import AgentRecord

PAGE = 1000
SAME, DIFFERS, UNKNOWN, NEW = "same", "differs", "not recorded", "new"
"""The request of a turn, compared with the recorded one; NEW: it was sent to a model now."""
OTHER_DIGEST = (
    "the recorded request had another digest, and its text is not kept: the model, its parameters, the tools, a"
    " secret or the program have changed since"
)
Digests = Mapping[tuple[int, int], str]
"""The digest of the request of each answered call, by element instance and turn."""


class NotAgain(Exception):
    """The agents cannot run again."""


@dataclass(frozen=True, slots=True)
class Wish:
    """The options of a run. `prompt`: another system prompt. `model`: the one to ask, None: nobody is asked."""

    from_turn: int
    prompt: str | None
    model: str | None
    config: Config


@dataclass(slots=True)
class RerunReport:
    """The outcome: a row for each turn, sentences or a difference behind them, and whether all was as recorded."""

    rows: list[dict[str, Any]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    is_same: bool = True

    def add(self, element: str, number: int, request: str, answer: AssistantMessage) -> None:
        calls = [{"name": one.name, "arguments": loads(to_json(one.arguments))} for one in answer.tool_calls or ()]
        row = {"element": element, "turn": number, "request": request, "answer": _shown(answer)}
        self.rows.append({**row, "said": "\n".join(map(text_of, answer.content or ())), "calls": calls})

    def end(self, *lines: str) -> None:
        """Something was not as recorded."""
        self.said += lines
        self.is_same = False


async def run_again(connection: Connection, instance: int, wish: Wish) -> RerunReport:
    """Run all agents of an instance again. Raises NotAgain."""
    if wish.model is not None and (stopped := await agents.stops(connection)):
        raise NotAgain(f"{len(stopped)} stops of agents hold: `vivero agents list` shows them")
    report, digests = RerunReport(), await _digests(connection, instance)
    found = await agent_calls.agents_of(connection, instance)
    if not found:
        raise NotAgain(f"no agent of the process instance {instance} has called a model")
    for record in found:
        await _again(record, digests, wish, report)
    return report


async def _digests(connection: Connection, instance: int) -> Digests:
    found: dict[tuple[int, int], str] = {}
    after = None
    while True:
        page = await agent_calls.of_instance(connection, instance, after, PAGE)
        found |= {(call.element_instance, call.turn): call.request_digest for call in page if call.outcome == ANSWERED}
        if len(page) < PAGE:
            return found
        after = page[-1].id


async def _again(record: AgentRecord, digests: Digests, wish: Wish, report: RerunReport) -> None:
    """Run one agent again. Raises NotAgain."""
    try:
        agent = reruns.recorded(record, wish.config.agents, _secrets(wish.config), wish.model)
        of_agent = {turn: digest for (instance, turn), digest in digests.items() if instance == record.element_instance}
        first = max(wish.from_turn, min(of_agent, default=1))
        turns = [one for one in agent.turns if one.number >= first]
        if not turns:
            report.end(f"{record.element}: no turn from {first} on has ended")
        elif wish.model is None:
            _compare(record.element, agent, turns, of_agent, wish, report)
        elif not agent.has_secrets:
            raise NotAgain(f"the secrets of the agent '{record.element}' are not set here")
        else:
            await _ask(record.element, agent, turns, wish, report)
    except (AgentError, ConnectorError, EvaluationError) as error:
        raise NotAgain(f"the agent '{record.element}' cannot run again: {error}") from error


def _compare(
    element: str,
    agent: RecordedAgent,
    turns: Sequence[Turn],
    digests: Mapping[int, str],
    wish: Wish,
    report: RerunReport,
) -> None:
    for turn in turns:
        now = turn if wish.prompt is None else instructed(turn, wish.prompt)
        lines = difference(turn.ask.request, now.ask.request)
        known, made = digests.get(turn.number), agent.digest(now.ask.request)
        is_unknown = known is None or made is None
        state = DIFFERS if lines or (not is_unknown and known != made) else UNKNOWN if is_unknown else SAME
        report.add(element, turn.number, state, turn.answer)
        if state == DIFFERS:
            report.end(*(lines or [f"{element}, turn {turn.number}: {OTHER_DIGEST}"]))
            return
    step = take(turns[-1].ask, answer_of(turns[-1].answer), wish.config.agents.max_tool_calls)
    if isinstance(step, Respond) and agent.response is not None:
        made_now, recorded = response_of(step.message, step.context, agent.inputs), agent.response
        if any(made_now.get(name) != recorded.get(name) for name in {*made_now, *recorded} - {"context"}):
            report.end(f"{element}: the end differs: recorded {to_json(recorded)}, now {to_json(made_now)}")
            return
        report.said.append(f"{element}: the same end")
    else:
        report.said.append(f"{element}: as recorded, and not at its end")


async def _ask(element: str, agent: RecordedAgent, turns: Sequence[Turn], wish: Wish, report: RerunReport) -> None:
    turn = turns[0] if wish.prompt is None else instructed(turns[0], wish.prompt)
    results = RecordedResults(agent.inputs.context.conversation.messages if agent.inputs.context else ())
    run = again(turn, results, wish.config.agents.max_tool_calls)
    try:
        step = next(run)
        while True:
            answer = await reruns.ask(agent, step.request, wish.config.connectors, wish.config.agents)
            calls = [ToolCall(one.id, one.name, dict(one.arguments or {})) for one in answer.calls]
            shown = AssistantMessage({}, answer.content, calls)
            report.add(element, step.context.metrics.model_calls + 1, NEW, shown)
            step = run.send(answer)
    except MissingResult as missing:
        report.end(f"{element}: the record has no result of {missing}, so the run ends here")
    except StopIteration:
        report.said.append(f"{element}: the model has answered; the recorded answer was: {_shown(turns[-1].answer)}")


def _shown(answer: AssistantMessage) -> str:
    said = " ".join(map(text_of, answer.content or ()))
    return ", ".join(
        filter(None, [said, *(f"{one.name}({to_json(one.arguments)})" for one in answer.tool_calls or ())])
    )


def _secrets(config: Config) -> Mapping[str, str]:
    try:
        return secrets.load(config.connectors.secrets_file, config.connectors.secret_prefix)
    except BadSecrets as error:
        raise NotAgain(str(error)) from error
