"""Work of an API client from the command line: messages, signals, user tasks, jobs, variables, definitions."""

import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.core.decision_models import prices
from tests.core.event_models import ad_hoc, model
from tests.core.models import process, start, task
from tests.core.task_listener_models import user_task
from tests.eventually import eventually_sync
from tests.vivero.cli.commands import at, good, lines
from vivero.cli import main

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[3]
CLAIM = sorted((ROOT / "examples" / "claim").glob("claim.bpmn")) + sorted((ROOT / "examples" / "claim").glob("*.form"))
WAITING = """<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t"
  xmlns:zeebe="http://camunda.org/schema/zeebe/1.0">
  <message id="m" name="paid"><extensionElements>
    <zeebe:subscription correlationKey="=order" />
  </extensionElements></message>
  <signal id="n" name="news" />
  <process id="waiting" isExecutable="true">
    <startEvent id="s" /><sequenceFlow id="f" sourceRef="s" targetRef="c" />
    <intermediateCatchEvent id="c"><messageEventDefinition messageRef="m" /></intermediateCatchEvent>
    <sequenceFlow id="g" sourceRef="c" targetRef="d" />
    <intermediateCatchEvent id="d"><signalEventDefinition signalRef="n" /></intermediateCatchEvent>
  </process></definitions>"""


@pytest.fixture
def run(shared_server):
    return at(shared_server.address)


@pytest.fixture
def waiting(run, tmp_path):
    file = tmp_path / "waiting.bpmn"
    file.write_text(WAITING)
    good(run("deploy", str(file)))
    return lambda order: good(run("start", "waiting", "--variables", json.dumps({"order": order}))).strip()


def test_messages_and_signals(run, waiting):
    key = waiting("A-1")
    [open_one] = lines(good(run("message", "subscriptions", "--instance", key, "--json")))
    assert (open_one["messageName"], open_one["correlationKey"]) == ("paid", "A-1")
    for other in (("--correlation-key", "A-2"), ("--correlation-key", "A-1", "--business-id", "other")):
        nobody = run("message", "correlate", "paid", *other)
        assert (nobody.exit_code, "none was found" in nobody.stderr) == (1, True)
    good(run("message", "publish", "paid", "--correlation-key", "A-1", "--business-id", "other"))
    correlated = good(run("message", "correlate", "paid", "--correlation-key", "A-1", "--variables", '{"amount": 30}'))
    assert correlated == f"{key}\n"
    assert good(run("message", "subscriptions", "--instance", key, "--keys")) == ""
    [ended] = lines(good(run("message", "subscriptions", "--instance", key, "--state", "any", "--json")))
    assert ended["messageSubscriptionState"] == "CORRELATED"
    [amount] = lines(good(run("variables", "--instance", key, "--name", "amount", "--json")))
    assert amount["value"] == "30"
    assert good(run("signal", "news")).strip().isdecimal()
    assert json.loads(good(run("show", key, "--json")))["instance"]["state"] == "COMPLETED"


def test_a_message_waits_for_its_instance(run, waiting):
    published = good(run("message", "publish", "paid", "--correlation-key", "B-1", "--ttl", "600", "--id", "once"))
    again = run("message", "publish", "paid", "--correlation-key", "B-1", "--ttl", "600", "--id", "once")
    assert (again.exit_code, "ALREADY_EXISTS" in again.stderr) == (1, True)
    [buffered] = lines(good(run("message", "list", "--name", "paid", "--json")))
    assert (buffered["messageKey"], buffered["correlationKey"]) == (published.strip(), "B-1")
    key = waiting("B-1")
    assert "d\t" in good(run("show", key))


def test_a_deployed_decision(run, tmp_path):
    file = tmp_path / "shop.dmn"
    file.write_bytes(prices())
    good(run("deploy", str(file)))
    variables = '{"total": 200, "customer": "gold"}'
    assert good(run("evaluate", "Price", "--variables", variables)) == "180\n"
    [document] = lines(good(run("evaluate", "Price", "--variables", variables, "--json")))
    assert [each["output"] for each in document["evaluatedDecisions"]] == ["0.1", "180"]
    failed = run("evaluate", "Price", "--variables", '{"total": 2000, "customer": "gold"}')
    assert (failed.exit_code, failed.stdout, "(matched rules: 2, 3)" in failed.stderr) == (1, "", True)
    unknown = run("evaluate", "Nope")
    assert (unknown.exit_code, "no decision found for id 'Nope'" in unknown.stderr) == (1, True)
    assert run("evaluate", "Price", "--batch", "-").exit_code == 2


def test_the_commands_of_the_example_of_decisions(run):
    """As its README has them."""
    folder = ROOT / "examples" / "decisions"
    text = (folder / "README.md").read_text(encoding="utf-8")
    deploy, begin, evaluate = (shlex.split(line)[1:] for line in re.findall(r"^    (vivero (?!up).*)$", text, re.M))
    good(run(*(str(ROOT / word) if word.startswith("examples/") else word for word in deploy)))
    assert json.loads(good(run(*begin)))["price"] == 180
    assert good(run(*evaluate)) == "180\n"


def test_a_user_task_from_claim_to_completion(run):
    good(run("deploy", *map(str, CLAIM)))
    key = good(run("start", "claim")).strip()
    [task] = good(run("task", "list", "--instance", key, "--keys")).split()
    assert run("task", "claim", task).stderr.endswith("name one with --user\n")
    assert good(run("task", "claim", task, "--user", "ann")) == f"claimed {task}\n"
    taken = run("task", "claim", task, "--user", "bob")
    assert (taken.exit_code, taken.stderr) == (1, f"Error: user task {task} is assigned to ann\n")
    assert good(run("task", "assign", "bob", task)) == f"assigned {task}\n"
    assert good(run("task", "list", "--assignee", "bob", "--keys")) == f"{task}\n"
    assert good(run("task", "unassign", task)) == f"unassigned {task}\n"
    good(run("task", "update", task, "--priority", "80", "--due", "2027-01-31T12:00:00Z", "--group", "chiefs"))
    shown = json.loads(good(run("task", "show", task, "--json")))
    assert (shown["priority"], shown["candidateGroups"], shown["assignee"]) == (80, ["chiefs"], None)
    assert "candidateGroups" in good(run("task", "show", task))
    assert run("task", "update", task).exit_code == 2
    good(run("task", "complete", task, "--variables", '{"approved": true}'))
    again = run("task", "complete", task)
    assert again.stderr.startswith(f"Error: user task {task} ended already: COMPLETED at ")
    assert '"approved"' not in good(run("variables", "--instance", key, "--name", "approved"))
    assert lines(good(run("variables", "--instance", key, "--name", "approved", "--json")))[0]["value"] == "true"


def test_a_job_by_hand(run, greeting):
    name, file = greeting
    good(run("deploy", str(file)))
    key = good(run("start", name)).strip()
    [job] = good(run("jobs", "--instance", key, "--keys")).split()
    assert good(run("job", "fail", job, "--message", "no paper", "--retries", "2")) == f"failed {job}\n"
    [failed] = lines(good(run("jobs", "--instance", key, "--json")))
    assert (failed["state"], failed["retries"], failed["errorMessage"]) == ("FAILED", 2, "no paper")
    good(run("job", "update", job, "--retries", "7"))
    assert lines(good(run("jobs", "--instance", key, "--json")))[0]["retries"] == 7
    good(run("set", key, "--variables", '{"name": "Ada"}'))
    assert good(run("job", "complete", job, "--variables", '{"greeting": "Hello"}')) == f"completed {job}\n"
    again = run("job", "complete", job)
    assert again.stderr.startswith(f"Error: job {job} ended already: COMPLETED at ")
    found = lines(good(run("variables", "--scope", key, "--json")))
    assert {each["name"]: each["value"] for each in found} == {"name": '"Ada"', "greeting": '"Hello"'}


def test_a_bpmn_error_that_nobody_catches_is_an_incident(run, greeting):
    name, file = greeting
    good(run("deploy", str(file)))
    key = good(run("start", name)).strip()
    [job] = good(run("jobs", "--instance", key, "--keys")).split()
    good(run("job", "error", job, "--code", "refused"))
    assert lines(good(run("incidents", "--instance", key, "--json")))[0]["errorType"] == "UNHANDLED_ERROR_EVENT"


def test_definitions_and_their_models(run, greeting, tmp_path):
    name, file = greeting
    good(run("deploy", str(file)))
    changed = tmp_path / "changed.bpmn"
    changed.write_text(file.read_text() + "\n")
    good(run("deploy", str(changed)))
    [latest] = lines(good(run("definitions", "--process", name, "--latest", "--json")))
    assert latest["version"] == 2
    assert len(good(run("definitions", "--process", name, "--keys")).split()) == 2
    assert good(run("xml", name)) == good(run("xml", latest["processDefinitionKey"])) == changed.read_text()
    assert good(run("xml", name, "--version", "1")) == file.read_text()
    assert json.loads(good(run("xml", name, "--json")))["version"] == 2
    unknown = run("xml", name[:-1] + "x")
    assert (unknown.exit_code, f"'{name}'" in unknown.stderr) == (1, True)
    assert "with version 9" in run("start", name, "--version", "9").stderr


def test_an_unknown_process_gets_a_suggestion(run, greeting):
    name, file = greeting
    good(run("deploy", str(file)))
    said = run("start", f"{name}s")
    assert said.exit_code == 1
    assert said.stderr.startswith(f"Error: there is no process '{name}s'. Did you mean ")


def test_the_key_of_an_awaited_instance_comes_first(run, greeting, vivero, shared_server):
    name, file = greeting
    good(run("deploy", str(file)))
    waiting = vivero("start", name, "--await", "--address", shared_server.address)
    eventually_sync(lambda: waiting.logged.startswith("instance "))
    key = waiting.logged.split()[1]
    waiting.process.send_signal(2)
    assert waiting.ends() == 130
    assert f"instance {key}: it continues: `vivero show {key}` shows it" in waiting.logged
    assert json.loads(good(run("show", key, "--json")))["instance"]["state"] == "ACTIVE"


def test_a_terminated_instance_gives_no_result(run, greeting, vivero, shared_server):
    name, file = greeting
    good(run("deploy", str(file)))
    waiting = vivero("start", name, "--await", "--address", shared_server.address)
    eventually_sync(lambda: waiting.logged.startswith("instance "))
    key = waiting.logged.split()[1]
    good(run("cancel", key))
    assert waiting.ends() == 1
    assert waiting.logged.endswith(f"Error: instance {key} was terminated before its end\n")


def test_a_form_that_is_not_deployed_is_a_warning(run, tmp_path):
    file = tmp_path / "form.bpmn"
    text = CLAIM[0].read_text().replace("review-claim", "never-deployed").replace('id="claim"', 'id="formless"')
    file.write_text(text)
    result = run("deploy", str(file))
    assert "no form 'never-deployed' is deployed: until it is deployed, the task becomes an incident" in result.stderr
    good(run("deploy", *map(str, CLAIM)))
    assert "'file-claim'" not in run("deploy", str(file)).stderr


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands_options_and_process_ids(run, greeting, shared_server, shell):
    name, file = greeting
    good(run("deploy", str(file)))
    assert "_VIVERO_COMPLETE" in good(run("completion", shell))

    def completed(*words):
        environment = {
            "VIVERO_ADDRESS": shared_server.address,
            "_VIVERO_COMPLETE": f"{shell}_complete",
            "COMP_WORDS": " ".join(("vivero", *words)),
            "COMP_CWORD": str(len(words)) if shell != "fish" else words[-1],
        }
        return CliRunner().invoke(main, [], env=environment, prog_name="vivero").stdout

    assert "instances" in completed("inst")
    assert "--business-id" in completed("start", "--bus")
    assert name in completed("start", name[:3])


def test_psql_gets_the_url_and_its_own_arguments(run, monkeypatch):
    called = []
    monkeypatch.setattr(os, "execv", lambda program, arguments: called.append((program, arguments)))
    good(run("psql", "--database-url", "postgresql://db/x", "-c", "SELECT 1", "--", "--csv"))
    [(program, arguments)] = called
    assert Path(program).name == "psql"
    assert arguments == [program, "postgresql://db/x", "-c", "SELECT 1", "--csv"]
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    assert "PostgreSQL" in done.stdout


def test_psql_says_if_no_server_runs(run, tmp_path):
    result = run("psql", "--data-dir", str(tmp_path))
    assert (result.exit_code, "no embedded PostgreSQL runs at" in result.stderr) == (1, True)


@pytest.fixture
def start_model(run, tmp_path):
    def start(id, content):
        file = tmp_path / f"{id}.bpmn"
        file.write_bytes(content)
        good(run("deploy", str(file)))
        return good(run("start", id)).strip()

    return start


def test_an_ad_hoc_sub_process_by_hand(run, start_model):
    tools = ad_hoc("tools", task("ask"), task("write"), until="=false")
    key = start_model("by_hand", model(start(), tools, "start > tools", id="by_hand"))
    shown = json.loads(good(run("show", key, "--json")))
    [scope] = [one["elementInstanceKey"] for one in shown["elements"] if one["elementId"] == "tools"]
    assert good(run("activate", scope)) == "ask\tTask ask\nwrite\tTask write\n"
    assert [one["elementId"] for one in lines(good(run("activate", scope, "--json")))] == ["ask", "write"]
    good(run("activate", scope, "ask"))
    said = good(run("activate", scope, "ask", "write", "--variables", '{"to": "Ada"}', "--cancel-remaining"))
    assert said == f"activated ask, write in {scope}\n"
    jobs = lines(good(run("jobs", "--instance", key, "--json")))
    assert sorted((job["elementId"], job["state"]) for job in jobs) == [
        ("ask", "CANCELED"),
        ("ask", "CREATED"),
        ("write", "CREATED"),
    ]
    found = lines(good(run("variables", "--instance", key, "--name", "to", "--json")))
    assert [each["value"] for each in found] == ['"Ada"', '"Ada"']
    for arguments, code, text in (
        ((scope, "tools"), 1, "[tools] do not exist"),
        ((scope, "ask", "ask"), 1, "duplicate activities"),
        ((key,), 1, f"{key} is not the key of an ad-hoc sub-process"),
        ((key, "ask"), 1, "is not an ad-hoc sub-process"),
        ((scope, "--cancel-remaining"), 2, "--variables and --cancel-remaining need an ELEMENT"),
    ):
        refused = run("activate", *arguments)
        assert (refused.exit_code, text in refused.stderr) == (code, True), refused.stderr
    good(run("set", scope, "--local", "--variables", '{"adHocSubProcessElements": 5}'))
    assert "was overwritten" in run("activate", scope).stderr
    good(run("cancel", key))


def test_a_worker_and_a_person_decide_what_comes_next_in_an_ad_hoc_sub_process(run, start_model, tmp_path):
    tools = ad_hoc("tools", task("ask"), job="decider")
    key = start_model("decided", model(start(), tools, "start > tools", id="decided"))
    [job] = good(run("jobs", "--instance", key, "--keys")).split()
    wrong = run("job", "complete", job, "--result", '{"activateElements": []}')
    assert (wrong.exit_code, "No result.type provided" in wrong.stderr) == (1, True)
    decision = '{"type": "adHocSubProcess", "activateElements": [{"elementId": "ask"}]}'
    good(run("job", "complete", job, "--result", decision))
    asking = [each["jobKey"] for each in lines(good(run("jobs", "--instance", key, "--json"))) if each["type"] == "ask"]
    good(run("job", "complete", *asking))
    decided = tmp_path / "decided.json"
    decided.write_text('{"isCompletionConditionFulfilled": true, "variables": {"answer": 42}}')
    run("worker", "decider", "--exec", f"cat {decided}", "--max-jobs", "1", "--name", "w")
    assert json.loads(good(run("show", key, "--json")))["instance"]["state"] == "COMPLETED"
    [answer] = lines(good(run("variables", "--instance", key, "--name", "answer", "--json")))
    assert (answer["value"], answer["scopeKey"]) == ("42", key)


def test_a_worker_that_denies_with_a_wrong_result_is_told_why(run, start_model):
    content = process(start(), user_task("decide", "creating prepare 2"), "start > decide", id="prepared")
    key = start_model("prepared", content)
    [job] = good(run("jobs", "--instance", key, "--keys")).split()
    result = run("worker", "prepare", "--exec", """echo '{"denied": true}'""", "--max-jobs", "1")
    assert f"job {job} failed: Denying result is not supported for 'CREATING' task listener jobs" in result.stderr
    [failed] = lines(good(run("jobs", "--instance", key, "--json")))
    assert (failed["state"], failed["retries"]) == ("FAILED", 1)
    corrected = """echo '{"corrections": {"priority": 80}}'"""
    assert f"job {job} completed" in run("worker", "prepare", "--exec", corrected, "--max-jobs", "1").stderr
    [task] = good(run("task", "list", "--instance", key, "--keys")).split()
    assert json.loads(good(run("task", "show", task, "--json")))["priority"] == 80
    good(run("cancel", key))
