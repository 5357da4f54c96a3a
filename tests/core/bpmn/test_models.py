"""Valid models, and their nodes."""

from __future__ import annotations

import subprocess
import sys

import pytest
from lxml import etree

from vivero.core.bpmn.outline import outline
from vivero.core.bpmn.parser import Parsed, parse
from vivero.core.bpmn.reading.draft import Draft
from vivero.core.bpmn.reading.report import Report
from vivero.core.bpmn.reading.xml import BPMN


def only(parsed: Parsed):
    assert [str(problem) for problem in parsed.problems] == []
    (process,) = parsed.processes
    return process


@pytest.fixture
def load(models):
    return lambda name: parse((models / name).read_bytes(), name)


def test_every_model_of_ours_is_executable(model_file):
    parsed = parse(model_file.read_bytes(), model_file.name)
    assert parsed.problems == ()
    assert parsed.processes


PRINT = """
import sys
from vivero.core.bpmn.parser import parse
for path in sys.argv[1:]:
    print(repr(parse(open(path, "rb").read(), "x")))
"""


def test_parsing_is_deterministic(model_file):
    """Order included, and whatever the hash seed: partitions on different machines read the same model."""
    content = model_file.read_bytes()
    once, again = (parse(content, "x") for _ in range(2))
    assert repr(once) == repr(again)


def test_parsing_does_not_depend_on_the_hash_seed(models, tmp_path):
    broken = tmp_path / "broken.bpmn"
    broken.write_bytes((models / "order.bpmn").read_bytes().replace(b'type="', b'typo="'))
    paths = [models / f"{name}.bpmn" for name in ("order", "decorated", "events", "activities")]
    runs = [
        subprocess.run(
            [sys.executable, "-c", PRINT, *paths, broken], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True
        )
        for seed in ("1", "2")
    ]
    assert runs[0].stdout == runs[1].stdout
    assert runs[0].stdout.count(b"Parsed(resource='x'") == 5


def test_a_process_is_its_own_root(load):
    process = only(load("order.bpmn"))
    assert (process.id, process.name, process.version_tag) == ("order", "Order", "1.2.0")
    assert process.root is process.nodes["order"]
    assert (process.root.type, process.root.scope, process.root.start) == ("PROCESS", None, "ordered")


def test_nodes_of_all_depths_are_found_by_id(load):
    process = only(load("nested.bpmn"))
    assert {node.id: node.scope for node in process.nodes.values()} == {
        "nested": None,
        "start": "nested",
        "outer": "nested",
        "end": "nested",
        "outer-start": "outer",
        "fork": "outer",
        "inner": "outer",
        "beside": "outer",
        "join": "outer",
        "outer-end": "outer",
        "inner-start": "inner",
        "inner-work": "inner",
    }
    assert {node.id: node.start for node in process.nodes.values() if node.start} == {
        "nested": "start",
        "outer": "outer-start",
        "inner": "inner-start",
    }


def test_types_are_named_as_the_rest_api_names_them(load):
    process = only(load("order.bpmn"))
    types = {node.type for node in process.nodes.values()}
    assert types == {
        "PROCESS",
        "START_EVENT",
        "END_EVENT",
        "SERVICE_TASK",
        "EXCLUSIVE_GATEWAY",
        "PARALLEL_GATEWAY",
        "SUB_PROCESS",
    }


def test_flows_are_linked_in_document_order(load):
    process = only(load("order.bpmn"))
    assert process.nodes["verdict"].outgoing == ("verdict-split", "verdict-repair", "verdict-refuse")
    assert process.nodes["verdict"].default == "verdict-refuse"
    assert process.nodes["join"].incoming == ("pay-join", "delivery-join")
    flow = process.flows["check-verdict"]
    assert (flow.source, flow.target, flow.condition, flow.line) == ("check", "verdict", None, 29)


def test_incoming_and_outgoing_come_from_the_flows_and_not_from_the_children(process):
    parsed = process("""
        <startEvent id="s"><outgoing>invented</outgoing><incoming>f</incoming></startEvent>
        <endEvent id="e" />
        <sequenceFlow id="f" sourceRef="s" targetRef="e" />""")
    nodes = only(parsed).nodes
    assert (nodes["s"].incoming, nodes["s"].outgoing, nodes["e"].incoming) == ((), ("f",), ("f",))


def test_a_flow_without_an_id_is_named_for_its_ends(process):
    flow = '<sequenceFlow sourceRef="s" targetRef="e" />'
    parsed = process(
        f'<startEvent id="s" />{flow}<endEvent id="e" /><sequenceFlow id="s-e-2" sourceRef="s" targetRef="e" />{flow}'
    )
    assert list(only(parsed).flows) == ["s-e", "s-e-2", "s-e-3"]


def test_the_name_of_a_flow_is_not_taken(process):
    """Not by a node, and not by a flow that was named for other ends: all ids of a process are different."""
    flow = '<sequenceFlow sourceRef="{}" targetRef="{}" />'
    flows = flow.format("s", "e") * 2 + flow.format("s", "e-2") + flow.format("s", "e-3")
    ends = "".join(f'<endEvent id="{name}" />' for name in ("e", "e-2", "e-3", "s-e"))
    parsed = process(f'<startEvent id="s" />{ends}{flows}')
    found = only(parsed).flows
    assert [(flow.id, flow.target) for flow in found.values()] == [
        ("s-e-2", "e"),
        ("s-e-3", "e"),
        ("s-e-2-2", "e-2"),
        ("s-e-3-2", "e-3"),
    ]


def test_the_start_of_a_scope_is_its_none_start_event():
    timer = '<startEvent id="a"><timerEventDefinition /></startEvent>'
    element = etree.fromstring(f'<process xmlns="{BPMN}">{timer}<startEvent id="b" /></process>')
    draft = Draft("p", element, Report("x"))
    assert outline(draft, {})
    assert draft.start_of("p") == "b"
    assert draft.start_of("q") is None


def test_conditions_and_mappings_evaluate(load):
    process = only(load("order.bpmn"))
    verdict = process.flows["verdict-split"].condition
    assert verdict.evaluate({"order": {"verdict": "ok"}}).value is True
    assert verdict.evaluate({"order": {"verdict": "no"}}).value is False
    items, count = process.nodes["check"].inputs
    assert (items.target, items.root, count.target, count.root) == (("items",), "items", ("check", "count"), "check")
    assert count.source.evaluate({"items": [1, 2, 3]}).value == 3
    (verdict,) = process.nodes["check"].outputs
    assert verdict.target == ("order", "verdict")


def test_a_condition_may_have_space_and_comments_around_it(process):
    parsed = process("""<startEvent id="s" /><sequenceFlow id="f" sourceRef="s" targetRef="g" />
        <exclusiveGateway id="g" /><sequenceFlow id="c" sourceRef="g" targetRef="e">
          <conditionExpression xsi:type="tFormalExpression" language="anything">
            = x <!-- but not too much --> <![CDATA[ < 3 ]]>
          </conditionExpression>
        </sequenceFlow><endEvent id="e" />""")
    condition = only(parsed).flows["c"].condition
    assert condition.evaluate({"x": 2}).value is True
    assert condition.evaluate({"x": 3}).value is False


def test_the_condition_of_a_default_flow_is_never_evaluated(process):
    parsed = process("""<startEvent id="s" /><sequenceFlow id="f" sourceRef="s" targetRef="g" />
        <exclusiveGateway id="g" default="d" /><endEvent id="e" />
        <sequenceFlow id="d" sourceRef="g" targetRef="e">
          <conditionExpression>=false</conditionExpression></sequenceFlow>""")
    assert only(parsed).flows["d"].condition is None


def test_a_conditional_flow_needs_no_id(process):
    parsed = process("""<startEvent id="s" /><sequenceFlow sourceRef="s" targetRef="g" /><exclusiveGateway id="g" />
        <endEvent id="e" /><sequenceFlow sourceRef="g" targetRef="e">
          <conditionExpression>=x</conditionExpression></sequenceFlow>""")
    assert only(parsed).flows["g-e"].condition.evaluate({"x": True}).value is True


def job(process, node_id):
    job = process.nodes[node_id].job
    priority = job.priority and job.priority.evaluate({"urgent": True}).value
    return job.type.evaluate({}).value, job.retries.evaluate({"refusals": 1}).value, priority


def test_jobs_have_type_retries_and_priority(load):
    process = only(load("order.bpmn"))
    assert job(process, "check") == ("check-order", 5, 50)
    assert job(process, "pay") == ("pay", 3, 50), "retries by default 3, priority by default the process's"
    assert job(process, "repair") == ("repair-order", 3, 90)
    assert job(process, "refuse") == ("refuse-order", 2, 50)
    assert process.nodes["check"].job.headers == {"level": "strict"}
    assert only(load("one_task.bpmn")).nodes["work"].job.priority is None


@pytest.mark.parametrize("text", ["pay", "007", "true", "null", "1E3", 'say "hi"\\n'])
def test_a_static_job_type_stays_the_text_that_it_is(process, text):
    quoted = text.replace('"', "&quot;")
    parsed = process(f"""<startEvent id="s" /><serviceTask id="t"><extensionElements>
        <zeebe:taskDefinition type="{quoted}" /></extensionElements></serviceTask>""")
    assert only(parsed).nodes["t"].job.type.evaluate({}).value == text


@pytest.mark.parametrize(
    "header",
    [
        "<zeebe:header />",
        '<zeebe:header key="" value="" />',
        '<zeebe:header key="a" />',
        '<zeebe:header key="a" value="" />',
    ],
)
def test_a_header_that_nobody_has_filled_in_says_nothing(process, header):
    parsed = process(f"""<startEvent id="s" /><serviceTask id="t"><extensionElements><zeebe:taskDefinition type="t" />
        <zeebe:taskHeaders>{header}<zeebe:header key="b" value="1" />{header}</zeebe:taskHeaders>
        </extensionElements></serviceTask>""")
    assert only(parsed).nodes["t"].job.headers == {"b": "1"}


@pytest.mark.parametrize("name", ["taskHeaders", "ioMapping", "executionListeners", "taskListeners"])
def test_an_empty_list_of_extensions_asks_for_nothing_wherever_it_stands(process, name):
    """Modelers leave it behind when its last row is deleted, or the element becomes one of another kind."""
    parsed = process(f"""<startEvent id="s" /><parallelGateway id="g"><extensionElements><zeebe:{name} />
        </extensionElements></parallelGateway>""")
    assert list(only(parsed).nodes) == ["p", "s", "g"]


def test_a_mapping_without_a_source_gives_null(process):
    parsed = process("""<startEvent id="s"><extensionElements><zeebe:ioMapping><zeebe:output target="x" />
        </zeebe:ioMapping></extensionElements></startEvent>""")
    (mapping,) = only(parsed).nodes["s"].outputs
    assert mapping.source.evaluate({}).value is None


def test_what_has_no_execution_meaning_is_accepted(load):
    process = only(load("decorated.bpmn"))
    assert list(process.nodes) == ["decorated", "start", "work", "end"]
    assert process.nodes["work"].properties == {"colour": "red", "empty": ""}
    assert process.root.properties == {"owner": "sales"}


def test_processes_that_are_not_executable_are_skipped_and_not_checked(load):
    parsed = load("pools.bpmn")
    assert parsed.problems == ()
    assert [process.id for process in parsed.processes] == ["buyer", "seller"]
    assert parsed.skipped == ("sketch", "sketch-too")


def test_a_node_that_nothing_leads_to_is_fine(process):
    assert list(only(process('<startEvent id="s" /><endEvent id="lonely" />')).nodes) == ["p", "s", "lonely"]


def test_ids_and_names_keep_their_letters(definitions):
    parsed = definitions(
        '<process id="Ärger_mit.Ümläuten-1" name="Ж &#10; 漢" isExecutable=" 1 "><startEvent id="été" /></process>'
    )
    process = only(parsed)
    assert (process.id, process.name, list(process.nodes)[1]) == ("Ärger_mit.Ümläuten-1", "Ж \n 漢", "été")


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "iso-8859-1", "windows-1252"]
)
def test_usual_encodings_are_read(models, encoding):
    text = (models / "straight.bpmn").read_text().replace("UTF-8", encoding.removesuffix("-sig"))
    text = text.replace('id="straight"', 'id="straight" name="Grüße"')
    assert only(parse(text.encode(encoding), "straight.bpmn")).name == "Grüße"


def test_lines_from_65535_on_are_unknown(process):
    """The parser counts lines of elements with 16 bits, and guesses the others by their neighbours."""
    parsed = process("\n" * 70_000)
    assert [problem.line for problem in parsed.problems] == [2]
    parsed = process('<startEvent id="s" />' + "\n" * 70_000 + '<implicitThrowEvent id="u" />')
    assert [(problem.element_id, problem.line) for problem in parsed.problems] == [("u", None)]
