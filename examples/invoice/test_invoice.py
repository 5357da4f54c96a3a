"""Tests of the invoice. The fixture `processes` comes with Vivero."""

from __future__ import annotations

import pytest

from vivero.testing import BpmnError, JobFailure, Processes, ProcessRun


@pytest.fixture
def invoices(processes: Processes) -> Processes:
    """All that the invoice needs from outside."""
    processes.use("invoice.bpmn").mock_process("archive-document", {"archived": True})
    return processes.mock_job("check-credit", {"score": 80}).mock_job("send-invoice")


def started(processes: Processes) -> ProcessRun:
    return processes.start("invoice", {"invoiceId": "A-7", "total": 20})


def test_an_invoice_is_paid_and_archived(invoices: Processes) -> None:
    invoice = started(invoices).publish("payment-received", "A-7")
    invoice.expect_completed().expect_variables(archived=True)
    invoice.expect_path("check-credit", "send-invoice", "paid", "archive", "done")


def test_the_payment_of_another_invoice_does_not_count(invoices: Processes) -> None:
    started(invoices).publish("payment-received", "A-8").expect_active("wait")


def test_reminders_are_sent_every_14_days(invoices: Processes) -> None:
    reminders: list[str] = []
    invoices.mock_job("remind", lambda variables: reminders.append(variables["invoiceId"]))
    started(invoices).advance(days=43).expect_active("wait").expect_not_entered("paid")
    assert reminders == ["A-7"] * 3


def test_every_running_invoice_can_migrate_to_the_next_version(processes: Processes) -> None:
    processes.use("invoice.bpmn").mock_process("archive-document").mock_job("check-credit", {"score": 80})
    invoices = processes.expect_migrations("invoice-2.bpmn", variables={"invoiceId": "A-7"}, undo=True)
    assert len(invoices) == 6
    for invoice in invoices:
        invoice.expect_no_incidents()


@pytest.mark.parametrize(("score", "reviewed"), [(49, True), (50, False)])
def test_bad_credit_is_reviewed(invoices: Processes, score: int, reviewed: bool) -> None:
    invoices.mock_job("check-credit", {"score": score}).mock_user_task("review")
    invoice = started(invoices).expect_active("wait")
    assert ("review" in invoice.completed) is reviewed


def test_an_unknown_address_is_fixed(invoices: Processes) -> None:
    def send(variables: dict[str, object]) -> dict[str, object]:
        if "address" not in variables:
            raise BpmnError("UNKNOWN_ADDRESS")
        return {"sentTo": variables["address"]}

    invoices.mock_job("send-invoice", send)
    invoice = started(invoices).expect_active("fix-address")
    invoice.complete_user_task("fix-address", {"address": "Main Street 1"})
    invoice.expect_active("wait").expect_variables(sentTo="Main Street 1")


def test_an_invoice_that_cannot_be_sent_needs_help(invoices: Processes) -> None:
    def fail(_variables: object) -> None:
        raise JobFailure("the printer is out of paper")

    invoice = started(invoices.mock_job("send-invoice", fail))
    invoice.expect_incident("send-invoice", "out of paper")
