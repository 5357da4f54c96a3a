"""Tests of the support mail: scripts answer in place of the models, and nobody is called."""

from __future__ import annotations

from pathlib import Path

import mail
import pytest

from vivero.testing import AgentEvaluation, Processes, recorded, text, tool

HERE = Path(__file__).parent
QUESTION = [text({"category": "question"})]


@pytest.fixture
def mails(processes: Processes) -> Processes:
    """The process with its workers. Its first model takes every mail for a question."""
    return processes.use("mail.bpmn", mail).mock_model("classify", QUESTION)


def test_a_colleague_decides_about_money(mails: Processes) -> None:
    mails.mock_model(
        "agent",
        [
            tool("FindOrder", order=17),
            tool("AskColleague", question="Order 17 is 3 days late. May we refund the postage?"),
            lambda asked: text(f"We are sorry. {asked.results[-1].text}"),
        ],
    )
    run = mails.start(variables={"sender": "ana@example.com", "mail": "Where is my order 17?"})
    run.expect_active("AskColleague").expect_not_entered("send")
    run.complete_user_task("AskColleague", {"reply": "You get 5 euros back."})
    run.expect_completed("answered").expect_variables(answer="We are sorry. You get 5 euros back.")
    found = run.agent("agent").expect_tools("FindOrder", "AskColleague").expect_budget(calls=3, tokens=3000)
    found.expect_tool_calls(tool("FindOrder", order=17), "AskColleague")
    assert "lemon tree" in found.calls[1].results[0].text


def test_advertising_gets_no_answer(mails: Processes) -> None:
    mails.mock_model("classify", [text({"category": "advertising"})])
    run = mails.start(variables={"sender": "x@example.com", "mail": "Buy our pots!"})
    run.expect_completed("filed").expect_not_entered("agent", "send")


def test_a_recorded_case_comes_to_the_same_end(mails: Processes) -> None:
    """The answers of a real model: `vivero agents rerun KEY --json > order17.jsonl`."""
    mails.mock_model("agent", recorded(HERE / "order17.jsonl", "agent"))
    run = mails.start(variables={"sender": "ana@example.com", "mail": "Where is my order 17?"})
    run.expect_completed("answered").expect_variables(answer="Your order is 3 days late. We are sorry.")
    run.agent("agent").expect_tool_calls(tool("FindOrder", order=17))


CASES = [
    ("Where is my order 17?", 17, "3 days late"),
    ("Has order 18 left?", 18, "not left"),
    ("Where is my order 99?", 99, "no such order"),
]
"""Mails, the order that the model must look up, and a part of a good answer."""
SCRIPTS = {
    "brief": {17: "It is 3 days late.", 18: "It has not left yet.", 99: "There is no such order."},
    "polite": {17: "Sorry, it is 3 days late!", 18: "Sorry, it has not left yet!", 99: "Sorry, no such order!"},
}
"""Answers of two models, as they were recorded."""


@pytest.mark.parametrize("model", SCRIPTS)
@pytest.mark.parametrize(("written", "order", "expected"), CASES)
def test_models_answer_the_cases(
    mails: Processes, evaluation: AgentEvaluation, model: str, written: str, order: int, expected: str
) -> None:
    """An evaluation: each model with each case, what it looked up, what it cost, what it said. pytest shows a table."""
    mails.mock_model("agent", [tool("FindOrder", order=order), text(SCRIPTS[model][order])])
    run = mails.start(variables={"sender": "ana@example.com", "mail": written}).expect_completed("answered")
    found = run.agent("agent").expect_tool_calls(tool("FindOrder", order=order))
    with evaluation.cell(found, price=(0.25, 2), model=model, case=written) as cell:
        cell.check("says what is known", expected in run.variables["answer"])
        cell.check("is brief", len(run.variables["answer"]) < 40)
