"""Commands against a server: deploy, start, look, cancel, resolve."""

import json
import re
from pathlib import Path

import pytest

from tests.vivero.cli.commands import at, good, lines

pytestmark = pytest.mark.process

ORDER = Path(__file__).parents[3] / "examples" / "order" / "order.bpmn"
EMPTY = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t">'
    '<process id="empty" isExecutable="true"><startEvent id="s"/></process></definitions>'
)
ITEMS = '{"items": [{"price": 2, "quantity": 3}]}'


@pytest.fixture
def run(shared_server):
    return at(shared_server.address)


def test_warnings_of_a_deployment_are_told_beside_its_answer(run, tmp_path):
    odd = tmp_path / "odd.bpmn"
    odd.write_text(EMPTY.replace('id="empty"', 'id="odd"').replace("</process>", '<task id="alone" /></process>'))
    result = run("deploy", str(odd))
    assert good(result).startswith("odd version 1 (key ")
    assert result.stderr.startswith("warning: 'odd.bpmn' line ")
    assert result.stderr.endswith("element 'alone': nothing leads to it: it is never entered\n")
    (warning,) = json.loads(good(run("deploy", str(odd), "--json")))["warnings"]
    assert result.stderr == f"warning: {warning}\n"


def test_forms_are_deployed_beside_their_process(run):
    said = good(run("deploy", *map(str, sorted(ORDER.parents[1].glob("claim/*.[bf]*")))))
    assert re.sub(r"key \d+", "key KEY", said).splitlines() == [
        "claim version 1 (key KEY) from claim.bpmn",
        "form file-claim version 1 (key KEY) from file-claim.form",
        "form review-claim version 1 (key KEY) from review-claim.form",
    ]
    listed = good(run("forms", "--id", "review-claim"))
    assert "review-claim.form" in listed
    assert "file-claim" not in listed
    assert [form["formId"] for form in lines(good(run("forms", "--oldest", "--json")))] == [
        "file-claim",
        "review-claim",
    ]


def test_any_other_file_is_deployed_by_its_name(run, tmp_path):
    note = tmp_path / "note.md"
    note.write_text("Dear …")
    said = good(run("deploy", str(note)))
    assert re.sub(r"key \d+", "key KEY", said).splitlines() == ["resource note.md version 1 (key KEY) from note.md"]
    assert "note.md" in good(run("resources", "--id", "note.md"))
    assert lines(good(run("resources", "--id", "other", "--json"))) == []


def test_from_deployment_to_end(run, tmp_path):
    empty = tmp_path / "empty.bpmn"
    empty.write_text(EMPTY)
    said = good(run("deploy", str(ORDER), str(empty)))
    assert "order version 1 (key " in said
    assert "empty version 1 (key " in said
    assert good(run("deploy", str(ORDER))).startswith("order version 1 (key ")

    result = run("start", "empty", "--variables", '{"a": [1, "ü"]}', "--await")
    assert json.loads(good(result)) == {"a": [1, "ü"]}
    assert "completed" in result.stderr
    document = json.loads(good(run("start", "empty", "--variables", '{"a": [1, "ü"]}', "--await", "--json")))
    assert (document["processDefinitionId"], document["variables"]) == ("empty", {"a": [1, "ü"]})

    key = good(run("start", "order", "--variables", ITEMS, "--business-id", "B-1", "--tag", "x", "--tag", "y")).strip()
    shown = json.loads(good(run("show", key, "--json")))
    assert shown["instance"]["businessId"] == "B-1"
    assert shown["instance"]["tags"] == ["x", "y"]
    assert {element["elementId"] for element in shown["elements"]} == {"placed", "check-stock"}
    assert {"name": "total", "value": "6"}.items() <= shown["variables"][-1].items()
    table = good(run("show", key))
    for word in (key, "check-stock", "SERVICE_TASK", "total", "ACTIVE"):
        assert word in table

    told = good(run("trace", key))
    assert "> CreateInstance" in told
    assert "ElementActivating  check-stock in order" in told
    assert [item["lines"][0].split()[:2] for item in lines(good(run("trace", key, "--json")))] == [
        [">", "CreateInstance"]
    ]
    assert good(run("cancel", key)) == f"cancelled {key}\n"
    [listed] = lines(good(run("instances", "--state", "terminated", "--process", "order", "--json")))
    assert listed["processInstanceKey"] == key
    again = run("cancel", key)
    assert again.exit_code == 1
    assert re.fullmatch(rf"Error: process instance {key} ended already: TERMINATED at \S+Z\n", again.stderr)


def test_an_incident_is_listed_and_resolved(run, greeting):
    name, file = greeting
    good(run("deploy", str(file)))
    key = good(run("start", name)).strip()
    failing = ("worker", name, "--exec", "echo no name >&2; exit 1", "--max-jobs", "1")
    for _ in range(3):
        good(run(*failing))
    [incident] = lines(good(run("incidents", "--process", name, "--json")))
    assert (incident["errorType"], incident["errorMessage"]) == ("JOB_NO_RETRIES", "no name")
    assert incident["incidentKey"] in good(run("incidents", "--type", "job_no_retries", "--instance", key))
    assert "incident" in good(run("instances", "--incident", "--process", name))

    assert good(run("resolve", incident["incidentKey"], "--variables", '{"name": "Ada"}')).startswith("resolved ")
    assert lines(good(run("incidents", "--process", name, "--json"))) == []
    assert len(lines(good(run("incidents", "--state", "resolved", "--process", name, "--json")))) == 1
    [job] = lines(good(run("jobs", "--instance", key, "--type", name, "--json")))
    assert job["retries"] == 1

    good(run("worker", name, "--exec", "cat", "--max-jobs", "1"))
    shown = json.loads(good(run("show", key, "--json")))
    assert shown["instance"]["state"] == "COMPLETED"
    assert {variable["name"]: variable["value"] for variable in shown["variables"]} == {"name": '"Ada"'}


def test_instances_are_found_by_their_variables(run, greeting):
    name, file = greeting
    good(run("deploy", str(file)))
    ada = good(run("start", name, "--variables", '{"customer": "Ada", "total": 30, "of": {"a": [1, null]}}')).strip()
    good(run("start", name, "--variables", '{"customer": "Grace", "total": 30}'))
    listing = ("instances", "--process", name, "--keys")
    for given in (["customer=Ada"], ['customer="Ada"', "total=30"], ['of={"a": [1, null]}']):
        found = run(*listing, *(part for text in given for part in ("--variable", text)))
        assert good(found).split() == [ada], given
    assert len(good(run(*listing, "--variable", "total=30")).split()) == 2
    assert good(run(*listing, "--variable", 'total="30"')) == ""
    wrong = run(*listing, "--variable", "customer")
    assert wrong.exit_code == 2
    assert "'customer' is not NAME=VALUE" in wrong.stderr


def test_lists_are_read_page_by_page(run, greeting):
    name, file = greeting
    good(run("deploy", str(file)))
    keys = [good(run("start", name, "--tag", f"n{number}")).strip() for number in range(5)]
    listing = ("instances", "--process", name)
    first = run(*listing, "--limit", "2", "--oldest")
    assert [key in good(first) for key in keys] == [True, True, False, False, False]
    assert first.stderr.startswith("2 of 5; next page: --after ")
    after = first.stderr.split()[-1]
    rest = run(*listing, "--limit", "3", "--oldest", "--after", after)
    assert [key in good(rest) for key in keys] == [False, False, True, True, True]
    everything = lines(good(run(*listing, "--limit", "2", "--all", "--json")))
    assert [item["processInstanceKey"] for item in everything] == keys[::-1]
    [tagged] = lines(good(run(*listing, "--tag", "n3", "--json")))
    assert tagged["processInstanceKey"] == keys[3]
    assert run("instances", "--process", "nothing").stderr == "0 of 0\n"


def test_nothing_is_cut_off_where_the_output_is_no_terminal(run, greeting):
    name, file = greeting
    good(run("deploy", str(file)))
    key = good(run("start", name, "--business-id", "B" * 100)).strip()
    assert all(word in good(run("instances", "--process", name)) for word in (key, "B" * 100))


def test_a_command_of_the_log_with_its_events(run, greeting):
    name, file = greeting
    deployed = json.loads(good(run("deploy", str(file), "--json")))
    said = good(run("events", deployed["commandPosition"]))
    assert said.startswith(f"DEPLOYMENT:CREATE at position {deployed['commandPosition']}: PROCESSED after ")
    assert "DefinitionAdded" in said
    created = json.loads(good(run("start", name, "--json")))
    command = json.loads(good(run("events", created["commandPosition"], "--json")))
    assert command["events"][0]["type"] == "InstanceCreated"
    rejected = run("start", "nothing")
    assert "there is no process 'nothing'" in rejected.stderr
    position = str(int(created["commandPosition"]) + 1)
    assert "REJECTED" in good(run("events", position))


def test_what_cannot_be_deployed_is_said_with_all_problems(run, tmp_path):
    file = tmp_path / "bad.bpmn"
    file.write_text(EMPTY.replace("<startEvent", '<serviceTask id="one"/><serviceTask id="two"/><startEvent'))
    result = run("deploy", str(file))
    assert result.exit_code == 1
    assert "one" in result.stderr
    assert "two" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.long
def test_an_instance_that_does_not_end_in_time(run, greeting):
    name, file = greeting
    good(run("deploy", str(file)))
    result = run("start", name, "--await", "--timeout", "2")
    assert result.exit_code == 1
    [instance] = lines(good(run("instances", "--process", name, "--json")))
    key = instance["processInstanceKey"]
    assert result.stderr.splitlines() == [
        f"instance {key} started",
        f"Error: instance {key} has not ended within 2 s; it continues: `vivero show {key}` shows it",
    ]
    assert instance["state"] == "ACTIVE"


def test_status(run):
    said = good(run("status"))
    shown = dict(line.split("\t") for line in said.splitlines())
    assert shown["health"] == "healthy"
    assert shown["version"] == "0.1.0"
    assert re.fullmatch(r"\S+ at 127.0.0.1:\d+: live, 0.1.0, up \d+ .*", shown["node"])
    assert re.fullmatch(r"1: healthy, led by \S+", shown["partition"])
    assert shown["backlog"] == "0 commands"
    assert {"instances", "jobs", "incidents", "timers", "waiting"} <= shown.keys()
    assert re.fullmatch(r"\d+ MB", shown["database"])
    found = json.loads(good(run("status", "--json")))
    assert (found["healthy"], found["figures"]["partitions"][0]["hasLeader"]) == (True, True)


def test_everything_that_matches_is_cancelled(run):
    good(run("deploy", str(ORDER)))
    for _ in range(3):
        good(run("start", "order", "--variables", ITEMS, "--tag", "by-filter"))
    said = good(run("cancel", "--all", "--tag", "by-filter"))
    assert re.search(r" COMPLETED in [0-9.]+ s, 3 items: 3 completed\n$", said)
    states = {item["state"] for item in lines(good(run("instances", "--tag", "by-filter", "--json")))}
    assert states == {"TERMINATED"}
    (batch,) = lines(good(run("batches", "list", "--json")))
    items = lines(good(run("batches", "show", batch["batchOperationKey"], "--items", "completed", "--json")))
    assert len(items) == batch["operationsCompletedCount"] == 3
