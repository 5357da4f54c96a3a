"""The official Java client, unmodified, against the elements of BPMN that are rare: its program is beside this file."""

import os
import re
import shutil
from pathlib import Path

import pytest
import trio

from tests.core.compensation_models import CANCEL, compensation, done, handled, transaction
from tests.core.dmn.models import decision, definitions, inputs, literal, table
from tests.core.event_models import (
    ad_hoc,
    boundary,
    catch,
    complex_gateway,
    escalation,
    final,
    model,
    on,
    script,
    throw,
    together,
)
from tests.core.models import end, file, par, process_element, start, sub, task
from tests.core.task_listener_models import user_task
from tests.operations.tools import ROOT

PROGRAM = Path(__file__).with_name("java") / "Rest.java"
PROJECT = ROOT / "examples" / "first" / "java" / "pom.xml"
VERSIONS = ("8.8.14", "8.9.0")
LOOP = '<standardLoopCharacteristics loopMaximum="2"><loopCondition>=true</loopCondition></standardLoopCharacteristics>'
MODELS = {
    "adhoc": model(
        start(),
        ad_hoc("open", task("A"), task("B"), active='=["A"]', output="=x", into="xs", until="=count(xs) = 2"),
        ad_hoc("decided", task("C"), job="agent"),
        end(),
        "start > open > decided > end",
        id="adhoc",
    ),
    "listeners": file(
        process_element(
            start(), user_task("decide", "creating creating", "completing completing"), end(), "start > decide > end",
            id="listeners",
        )
    ),
    "others": model(
        start(),
        transaction("tx", start("ts"), done("book"), task("pay"), final("no", CANCEL), "ts > book > pay > no"),
        boundary("cancelled", "tx", CANCEL),
        par("fork"), task("left"), task("right"), complex_gateway("join", "=activationCount >= 2"),
        task("again").replace("</serviceTask>", LOOP + "</serviceTask>"),
        end(),
        *("start > tx", "cancelled > fork > left > join > again > end", "fork > right > join"),
        id="others",
    ),
}  # fmt: skip

EACH = (
    '<multiInstanceLoopCharacteristics isSequential="true" behavior="None" noneBehaviorEventRef="told">'
    "<loopCardinality>=2</loopCardinality></multiInstanceLoopCharacteristics>"
)
CONDITION = "<conditionalEventDefinition><condition>=n = 1</condition></conditionalEventDefinition>"
SIGNAL, NOW = '<signalEventDefinition signalRef="s"/>', "<timerEventDefinition><timeDuration>PT0S</timeDuration>"
NOW += "</timerEventDefinition>"
MODELS["alone"] = model(
    start(), script("first", "=1", "n"),
    catch("either", SIGNAL + NOW), together(catch("both", CONDITION + NOW)), throw("two", SIGNAL + escalation("A")),
    '<scriptTask id="twice" completionQuantity="2"><extensionElements><zeebe:script expression="=2"'
    ' resultVariable="m"/></extensionElements></scriptTask>', '<manualTask id="joined" startQuantity="2"/>',
    f'<manualTask id="each">{EACH}</manualTask>', boundary("said", "each", SIGNAL, False),
    handled('<manualTask id="booked"/>', "booked", script("unbook", "=3", "u")),
    sub("trip", start("i"), on(compensation(), "undo", script("undone", "=4", "v"), "undo-start > undone")),
    throw("back", compensation()), '<callActivity id="global" calledElement="once"/>',
    '<sequenceFlow id="if" sourceRef="global" targetRef="never"><conditionExpression>=n = 0</conditionExpression>'
    "</sequenceFlow>", '<manualTask id="never"/>', final("over", compensation()),
    "start > first > either > both > two > twice > joined > each > booked > trip > back > global > over",
    id="alone",
    beside=('<signal id="s" name="s"/><signalEventDefinition id="told" signalRef="s"/>'
            '<globalScriptTask id="once"><extensionElements><zeebe:script expression="=5" resultVariable="w"/>'
            "</extensionElements></globalScriptTask>",),
)  # fmt: skip
"""Elements that need nobody: it completes by itself."""
TYPES = {
    "either": "INTERMEDIATE_CATCH_EVENT",
    "both": "INTERMEDIATE_CATCH_EVENT",
    "two": "INTERMEDIATE_THROW_EVENT",
    "joined": "MANUAL_TASK",
    "each": "MULTI_INSTANCE_BODY",
    "said": "BOUNDARY_EVENT",
    "unbook": "SCRIPT_TASK",
    "undo": "EVENT_SUB_PROCESS",
    "back": "INTERMEDIATE_THROW_EVENT",
    "global": "CALL_ACTIVITY",
    "over": "END_EVENT",
}
"""Elements of `alone`, as clients see them."""

SHAPES = ("1.5", '"a"', "true", "null", "[1, [2], {a: 3}]", "{a: 1}", '@"2026-01-31"')
RULES = [["> 10", '"gold"'], ["-", '"all"']]
DECISIONS = definitions(
    inputs("n")
    + "".join(decision(f"shape{number}", literal(text)) for number, text in enumerate(SHAPES))
    + decision(f"shape{len(SHAPES)}", table(["n"], ["kind"], RULES, "COLLECT"), inputs=["n"])
    + decision("endless", literal("count(for i in 1..1000000000 return i)"))
)


@pytest.mark.long
@pytest.mark.parametrize("version", VERSIONS)
async def test_the_java_client_reads_every_answer(program_address, tmp_path, version):
    if missing := [name for name in ("mvn", "java") if shutil.which(name) is None]:
        pytest.skip(f"{' and '.join(missing)} is not installed")
    files = {f"{name}.bpmn": content for name, content in MODELS.items()} | {"shapes.dmn": DECISIONS}
    for name, content in files.items():
        (tmp_path / name).write_bytes(content)
    sources = tmp_path / "src" / "main" / "java"
    sources.mkdir(parents=True)
    shutil.copy(PROGRAM, sources)
    project, replaced = re.subn(r"<version>8[.0-9]+</version>", f"<version>{version}</version>", PROJECT.read_text())
    assert replaced == 1
    (tmp_path / "pom.xml").write_text(project)
    folders = ("", f"../{tmp_path.name}/", f"{tmp_path}/", "", "")  # the client sends paths as they are given
    arguments = " ".join(folder + name for folder, name in zip(folders, files, strict=True))
    command = ["mvn", "-q", "-B", "compile", "exec:java", "-Dexec.mainClass=Rest", f"-Dexec.args={arguments}"]
    environment = os.environ | {"CAMUNDA_REST_ADDRESS": program_address}
    with trio.fail_after(300):
        ran = await trio.run_process(
            command, cwd=tmp_path, env=environment, capture_stdout=True, capture_stderr=True, check=False
        )
    assert (ran.returncode, b"every answer was read" in ran.stdout) == (0, True), ran.stdout + ran.stderr
