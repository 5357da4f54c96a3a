"""The pages for newcomers, and what they say of models and clients."""

import re

from tests.operations.tools import ROOT
from vivero import testing
from vivero.core.bpmn.parser import parse

FROM_8 = (ROOT / "docs" / "from-camunda-8.md").read_text()
MODEL = """<bpmn:definitions xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t"
  xmlns:camunda="http://camunda.org/schema/1.0/bpmn">
  <bpmn:process id="p" isExecutable="true">
    <bpmn:startEvent id="s" /><bpmn:sequenceFlow id="f" sourceRef="s" targetRef="t" />{}
  </bpmn:process>
</bpmn:definitions>"""


def test_a_model_for_camunda_7_is_named_as_such():
    lacking = parse(MODEL.format('<bpmn:serviceTask id="t" camunda:class="a.B" />').encode(), "old.bpmn")
    assert any("the model is for Camunda 7" in str(problem) for problem in lacking.problems)
    whole = parse(MODEL.format('<bpmn:userTask id="t" camunda:assignee="ann" />').encode(), "old.bpmn")
    assert whole.problems == ()
    assert ["'t': camunda:assignee of Camunda 7 has no effect" in str(each) for each in whole.warnings] == [True]


def test_the_java_client_of_the_page_is_that_of_the_example():
    """A test of the example runs it."""
    (code,) = re.findall(r"^```java\nCamundaClient client =\n(.*?)^```", FROM_8, re.MULTILINE | re.DOTALL)
    example = (ROOT / "examples" / "first" / "java" / "src" / "main" / "java" / "Greet.java").read_text()
    calls = re.findall(r"\.(\w+)\(", code)
    assert calls[:2] == ["newClientBuilder", "restAddress"]
    assert [call for call in calls if f"{call}(" not in example] == []


def test_the_test_kit_has_what_the_page_on_process_tests_names():
    page = (ROOT / "docs" / "from-process-tests.md").read_text()
    named = set(re.findall(r"`(processes|run)\.(\w+)\(", page))
    assert len(named) > 12
    kinds = {"processes": testing.Processes, "run": testing.ProcessRun}
    assert [name for owner, name in named if not callable(getattr(kinds[owner], name, None))] == []
