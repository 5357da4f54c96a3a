"""The same tests of processes in memory and on a running server: `pytest --vivero-url`."""

import re
from types import SimpleNamespace

import pytest

from tests import plain_http
from tests.vivero.test_testing_docs import MODEL, PAGE, run_pytest
from vivero.client.answers import ApiError
from vivero.testing.server_processes import ServerProcesses

START = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t"
 xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">
 <message id="m" name="ordered"/><signal id="s" name="opened"/>
 <process id="NAME" isExecutable="true">
  <startEvent id="start"><EVENTEventDefinition EVENTRef="REF"/></startEvent>
  <sequenceFlow id="f" sourceRef="start" targetRef="pack"/>
  <userTask id="pack"><extensionElements><zeebe:userTask/></extensionElements></userTask>
 </process>
</definitions>"""
STORY = """
import pytest

from vivero.testing import JobFailure, text, tool


@pytest.fixture
def invoice(processes):
    processes.use("invoice.bpmn").mock_process("archive-document").mock_job("check-credit", {"score": 80})
    return processes.start("invoice", {"invoiceId": "A-7", "total": 20})


def test_operations(processes, invoice):
    invoice.expect_active("send-invoice").suspend("audit").resume().assign_business_id("B-1")
    invoice.fail("send-invoice", "no paper", retries=0).expect_incident("send-invoice", "no paper")
    invoice.set_variables({"copies": 2}).resolve("send-invoice").expect_no_incidents()
    invoice.complete("send-invoice").expect_active("wait").expect_variables(copies=2)
    invoice.modify(move={"wait": "send-invoice"}).expect_active("send-invoice").undo().expect_active("wait")
    invoice.migrate("invoice-2.bpmn")
    invoice.publish("payment-received", "A-7", {"paidOn": "2026-03-01"})
    invoice.complete("book-payment").expect_completed().expect_variables(paidOn="2026-03-01")
    invoice.expect_path("check-credit", "send-invoice", "paid", "book-payment", "archive").expect_not_entered("remind")
    assert invoice.instance.business_id == "B-1"


def test_a_migration_renames_what_is_active(processes, invoice):
    processes.mock_timer("overdue")
    invoice.complete("send-invoice").expect_active("remind")
    invoice.migrate("invoice-2.bpmn", mappings={"remind": "send-reminder", "wait": "wait"})
    invoice.complete("send-reminder").expect_completed("send-reminder").expect_not_entered("review")


def test_timers_and_errors(processes, invoice):
    processes.mock_timer("overdue")
    invoice.throw_error("send-invoice", "UNKNOWN_ADDRESS").complete_user_task("fix-address", {"address": "Main Street"})
    invoice.complete("send-invoice").complete("remind").expect_completed("overdue", "remind").cancel()
    invoice.expect_terminated()


def test_mocks_that_fail(processes):
    def send(variables):
        raise JobFailure("printer on fire", retries=0)

    processes.use("invoice.bpmn").mock_job("check-credit", {"score": 80}).mock_job("send-invoice", send)
    processes.start("invoice", {"invoiceId": "A-8"}).expect_incident("send-invoice", "printer on fire")


def test_start_events(processes):
    processes.use("message.bpmn", "signal.bpmn")
    for started in (processes.publish("ordered", "K-1", {"n": 1}), processes.broadcast("opened", {"n": 1})):
        [one] = started
        one.expect_active("pack").expect_variables(n=1).complete_user_task("pack").expect_completed()


def test_an_agent_with_a_scripted_model(processes):
    tools = [tool("FindOrder", order=17), tool("FindOrder", order=18)]
    processes.use("mail.bpmn").mock_model("classify", [text({"category": "question"})])
    processes.mock_model("agent", [tools, text("Soon")]).mock_job("send-mail")
    processes.mock_job("find-order", {"toolCallResult": "found"})
    run = processes.start("support-mail", {"mail": "Where?"}).expect_completed("answered")
    run.expect_variables(answer="Soon").agent("agent").expect_tool_calls(*tools)
    assert [one.text for one in run.agent("agent").calls[-1].results] == ["found", "found"]


def test_a_wrong_expectation(invoice):
    with pytest.raises(AssertionError, match="Did you mean 'remind'"):
        invoice.expect_not_entered("remnid")
    invoice.cancel()
    with pytest.raises(AssertionError, match="has ended: it is TERMINATED"):
        invoice.expect_active("wait")
    with pytest.raises(AssertionError):
        invoice.cancel()
"""
IN_MEMORY = {
    "test_after_14_days_there_is_a_reminder": "mock_timer(element)",
    "test_an_invoice_that_cannot_be_sent_stops_with_an_incident": "mock_timer(element)",
    "test_each_invoice_gets_its_own_payment": "mock_timer(element)",
    "test_every_running_invoice_can_migrate": "call migrate on an instance",
    "test_a_reminder_that_is_being_sent_stays_one": "mock_timer(element)",
    "test_an_invoice_can_be_sent_again_and_that_can_be_taken_back": "call modify on an instance",
}
"""The tests of the page that a server refuses, each with the other way that the error names."""


@pytest.mark.long
def test_the_same_tests_pass_in_memory_and_on_a_server(tmp_path, up, database):
    for number, block in enumerate(re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)):
        (tmp_path / f"test_block_{number}.py").write_text(block)
    for model in (*MODEL.parent.glob("*.bpmn"), MODEL.parents[1] / "agent" / "mail.bpmn"):
        (tmp_path / model.name).write_bytes(model.read_bytes())
    for event, ref in (("message", "m"), ("signal", "s")):
        text = START.replace("NAME", f"by-{event}").replace("EVENT", event).replace("REF", ref)
        (tmp_path / f"{event}.bpmn").write_text(text)
    (tmp_path / "test_story.py").write_text(STORY)
    here = run_pytest(tmp_path)
    assert here.returncode == 0, here.stdout + here.stderr
    server = up(database)
    there = run_pytest(tmp_path, "-rf", "--vivero-url", server.address)
    failed = set(re.findall(r"^FAILED \S+::(\w+)", there.stdout, re.MULTILINE))
    assert failed == IN_MEMORY.keys(), there.stdout + there.stderr
    sections = re.split(r"^_+ (test_\w+) _+$", there.stdout, flags=re.MULTILINE)
    for name, text in zip(sections[1::2], sections[2::2], strict=True):
        assert "NotOnServers: " in text, name
        assert IN_MEMORY[name] in text, name
    assert "process coverage" in there.stdout, "what a server runs counts, too"
    filter = {"filter": {"state": "ACTIVE"}}
    left = plain_http.post(f"{server.address}/v2/process-instances/search", json=filter).json()
    assert left["items"] == [], "the instances of ended tests are cancelled"


def test_all_instances_of_a_test_are_cancelled_also_if_the_server_refuses_one(monkeypatch):
    answers, asked = {"1": 404, "2": 403, "3": 409, "4": 204}, []

    def cancel(key):
        asked.append(key)
        if (status := answers[key]) != 204:
            raise ApiError(status, "T", f"refused {key}", None, {})

    at_server = ServerProcesses("http://localhost:1", ())
    monkeypatch.setattr(at_server, "_client", SimpleNamespace(cancel=cancel, close=lambda: asked.append("closed")))
    running = [SimpleNamespace(key=key, instance=SimpleNamespace(ended=False)) for key in answers]
    monkeypatch.setattr(at_server, "_at_server", running)
    with pytest.raises(ApiError, match="refused 2"):
        at_server.close()
    assert asked == ["1", "2", "3", "4", "closed"]
