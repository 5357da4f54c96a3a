"""Models of Camunda 7 become models of Camunda 8: expressions, extensions, notes."""

import json

import pytest
from hypothesis import strategies as st

from tests.properties import given
from vivero.core.bpmn.camunda7.conversion import convert, is_camunda7, read
from vivero.core.bpmn.camunda7.juel import MOST_DEPTH, Untranslatable, feel_attribute
from vivero.core.bpmn.camunda7.notes import Care
from vivero.core.bpmn.camunda7.rewrite import kebab
from vivero.core.bpmn.parser import parse
from vivero.core.bpmn.reading.xml import Unreadable
from vivero.core.feel import compile_attribute
from vivero.library import Models, complete, start
from vivero.testing.processes import BEGIN

HEAD = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="https://example.org/test" '
    'xmlns:camunda="http://camunda.org/schema/1.0/bpmn">'
)


EXTERNAL = 'camunda:type="external" camunda:topic='


def model(*elements, beside="", process=""):
    """A file with a process: a start event, an element `it`, and an end event, unless there is more."""
    flows = '<sequenceFlow id="a" sourceRef="s" targetRef="it"/><sequenceFlow id="b" sourceRef="it" targetRef="e"/>'
    content = f'<startEvent id="s"/>{"".join(elements)}<endEvent id="e"/>{flows}'
    return f'{HEAD}<process id="p" isExecutable="true" {process}>{content}</process>{beside}</definitions>'.encode()


def extended(tag, *extensions, attributes="", content=""):
    inside = f"<extensionElements>{''.join(extensions)}</extensionElements>" if extensions else ""
    return f'<{tag} id="it" {attributes}>{inside}{content}</{tag}>'


def converted(content):
    """The conversion, its text, and the notes as pairs. The model is one that a deployment takes."""
    done = convert(read(content))
    assert parse(done.content, "p.bpmn").problems == ()
    return done, done.content.decode(), [(str(note.care), note.text) for note in done.notes]


@pytest.mark.parametrize(
    ("juel", "feel"),
    [
        ("plain", "plain"),
        ("=odd", '="=odd"'),
        ("${amount > 100}", "=amount > 100"),
        ("#{amount gt 100 and not blocked}", "=amount > 100 and not(blocked)"),
        ("Order ${id}: ${customer.name}!", '="Order " + string(id) + ": " + string(customer.name) + "!"'),
        ("${a && !b || c == 'it\\'s'}", '=a and not(b) or c = "it\'s"'),
        ("${(a || b) && c}", "=(a or b) and c"),
        ("${a == b == c}", "=(a = b) = c"),
        ("${1 - (2 - 3)}", "=1 - (2 - 3)"),
        ("${-a * 2 / (b + 1)}", "=-a * 2 / (b + 1)"),
        ("${n % 3 + 1.5e3}", "=modulo(n, 3) + 1500"),
        ("${empty x}", '=x = null or x = "" or x = []'),
        ("${not empty x && y}", '=not(x = null or x = "" or x = []) and y'),
        ("${a ? 1 : b ? 2 : 3}", "=if a then 1 else if b then 2 else 3"),
        ("${items[0].price}", "=items[1].price"),
        ("${items[i]}", "=items[i + 1]"),
        ("${m['key'].x}", "=m.key.x"),
        ("${m['a key']}", '=get value(m, "a key")'),
        ("${execution.getVariable('x') + execution.getVariable('if')}", "=x + `if`"),
        ("${execution.hasVariable('x')}", "=is defined(x)"),
        ("${execution.processBusinessKey}", "=camunda.processInstance.businessId"),
        ("${dateTime().plusDays(3).minusWeeks(1).toDate()}", '=now() + duration("P3D") - duration("P7D")'),
        ("${name.toUpperCase().equals('ADA')}", '=upper case(name) = "ADA"'),
        ("${name.substring(1, 3)}", "=substring(name, 2, 2)"),
        ("${name.length() > list.size()}", "=string length(name) > count(list)"),
        ("${doc.prop('total').numberValue()}", "=doc.total"),
        ("${S(doc).hasProp('a')}", "=is defined(doc.a)"),
        ("${nrOfCompletedInstances / nrOfInstances >= 0.6}", "=numberOfCompletedInstances / numberOfInstances >= 0.6"),
        ("${'}'}", '="}"'),
    ],
)
def test_an_expression_in_feel(juel, feel):
    assert feel_attribute(juel) == feel
    compile_attribute(feel)


@pytest.mark.parametrize(
    ("juel", "reason"),
    [
        ("${bean.charge(x)}", "bean.charge() is Java"),
        ("${task.assignee}", "task.assignee has no counterpart in FEEL"),
        ("${execution.getVariable(name)}", "execution.getVariable() has no counterpart in FEEL"),
        ("${currentUser()}", "currentUser() has no counterpart in FEEL"),
        ("${a", "it has no closing brace"),
        ("${a +}", "it ends too early"),
        ("${a b}", "'b' is not expected there"),
        ("${a ? b}", "':' is missing"),
        ("${a.}", "a name is missing behind a dot"),
        ("${a; b}", "'; b' is no JUEL that is known here"),
        ("${}", "it ends too early"),
        (f"${{{'(' * MOST_DEPTH}x{')' * MOST_DEPTH}}}", "it is nested deeper than 50 levels"),
        (f"${{{'!' * 10_000}x}}", "it is nested deeper than 50 levels"),
        ("${1e999999999}", "the number 1e999999999 has more than 100 digits"),
        (f"${{a[{'9' * 5000}]}}", f"the number {'9' * 20} has more than 100 digits"),
        (f"${{1e{'9' * 30}}}", f"the number 1e{'9' * 18} has more than 100 digits"),
    ],
)
def test_an_expression_without_a_rule_says_why(juel, reason):
    with pytest.raises(Untranslatable) as error:
        feel_attribute(juel)
    assert str(error.value) == reason


@given(
    st.lists(
        st.sampled_from(
            ["a", "1", "'t'", "(", ")", "[", "]", ".", "?", ":", "!", "-", "+", "==", "empty ", ",", "size"]
        )
    )
)
def test_any_text_is_translated_or_refused(parts):
    try:
        feel = feel_attribute("${" + "".join(parts) + "}")
    except Untranslatable:
        return
    compile_attribute(feel)


@pytest.mark.parametrize(
    ("name", "type_"),
    [
        ("com.acme.ChargeCardDelegate", "charge-card"),
        ("orderService", "order-service"),
        ("a.HTTPClient2", "http-client2"),
        ("Delegate", "delegate"),
        ("a.B$CDelegate", "c"),
    ],
)
def test_the_type_of_a_job_has_the_name_of_its_code(name, type_):
    assert kebab(name) == type_


@pytest.mark.parametrize(
    ("element", "expected", "notes"),
    [
        (
            extended("serviceTask", attributes=f'{EXTERNAL}"charge" camunda:taskPriority="${{p}}"'),
            ['<zeebe:taskDefinition type="charge"/>', '<zeebe:jobPriorityDefinition priority="=p"/>'],
            [("check", "the external task of the topic charge is a job of this type")],
        ),
        (
            extended("serviceTask", attributes='camunda:class="com.acme.ScoreDelegate" camunda:resultVariable="score"'),
            ['<zeebe:taskDefinition type="score"/>', '<zeebe:output source="=result" target="score"/>'],
            [
                ("todo", "the Java class com.acme.ScoreDelegate is a job of the type 'score'"),
                ("check", "the result goes to 'score'"),
                ("check", "only what its output mappings name leaves it"),
            ],
        ),
        (
            extended("sendTask", attributes='camunda:expression="${mail.send(order)}"'),
            ['<zeebe:taskDefinition type="mail-send"/>'],
            [("todo", "the expression ${mail.send(order)} is a job of the type 'mail-send'")],
        ),
        (
            extended(
                "serviceTask",
                "<camunda:failedJobRetryTimeCycle>R5/PT10M</camunda:failedJobRetryTimeCycle>",
                '<camunda:field name="to" stringValue="a"/><camunda:field name="by"><camunda:expression>${b}'
                "</camunda:expression></camunda:field>",
                attributes=f'{EXTERNAL}"t"',
            ),
            ['retries="5"', '<zeebe:header key="to" value="a"/>', '<zeebe:input source="=b" target="by"/>'],
            [
                ("check", "the external task of the topic t is a job of this type"),
                ("check", "failed jobs are tried again after PT10M"),
            ],
        ),
        (
            extended(
                "businessRuleTask",
                attributes='camunda:decisionRef="${d}" camunda:resultVariable="r" '
                'camunda:mapDecisionResult="resultList" '
                'camunda:decisionRefBinding="versionTag" camunda:decisionRefVersionTag="v1"',
            ),
            ['decisionId="=d"', 'resultVariable="r"', 'bindingType="versionTag"', 'versionTag="v1"'],
            [("check", "the result was mapped by resultList")],
        ),
        (
            extended(
                "scriptTask",
                attributes='scriptFormat="JavaScript" camunda:resultVariable="r"',
                content="<script>a + b</script>",
            ),
            [
                '<zeebe:taskDefinition type="it"/>',
                '<zeebe:header key="language" value="javascript"/>',
                '<zeebe:header key="script" value="a + b"/>',
            ],
            [("todo", "the script in javascript is a job of the type 'it'")],
        ),
        (
            extended(
                "scriptTask",
                attributes='scriptFormat="juel" camunda:resultVariable="r"',
                content="<script>${a + b}</script>",
            ),
            ['<zeebe:script expression="=a + b" resultVariable="r"/>'],
            [],
        ),
        (
            extended(
                "userTask",
                '<camunda:taskListener event="complete" class="a.DoneListener"/>',
                attributes='camunda:assignee="${boss}" camunda:candidateGroups="a,b" '
                'camunda:dueDate="2026-01-01T00:00:00Z" '
                'camunda:priority="70" camunda:formRef="f" camunda:formRefBinding="deployment"',
            ),
            [
                "<zeebe:userTask/>",
                '<zeebe:assignmentDefinition assignee="=boss" candidateGroups="a,b"/>',
                '<zeebe:taskSchedule dueDate="2026-01-01T00:00:00Z"/>',
                '<zeebe:priorityDefinition priority="70"/>',
                '<zeebe:formDefinition formId="f" bindingType="deployment"/>',
                '<zeebe:taskListener eventType="completing" type="done"/>',
            ],
            [("todo", "the listener a.DoneListener of 'complete' is a job of the type 'done'")],
        ),
        (
            extended(
                "callActivity",
                '<camunda:in variables="all"/><camunda:in businessKey="#{execution.businessKey}"/>'
                '<camunda:in source="a" target="b"/><camunda:out sourceExpression="${r.ok}" target="ok"/>',
                attributes='calledElement="${which}"',
            ),
            [
                'processId="=which"',
                'propagateAllParentVariables="true"',
                'propagateAllChildVariables="false"',
                'businessId="=camunda.processInstance.businessId"',
                '<zeebe:input source="=a" target="b"/>',
                '<zeebe:output source="=r.ok" target="ok"/>',
            ],
            [],
        ),
        (
            extended(
                "task",
                '<camunda:inputOutput><camunda:inputParameter name="l"><camunda:list><camunda:value>a'
                "</camunda:value><camunda:value>${b}</camunda:value></camunda:list></camunda:inputParameter>"
                '<camunda:inputParameter name="m"><camunda:map><camunda:entry key="k">1</camunda:entry></camunda:map>'
                "</camunda:inputParameter>"
                '<camunda:outputParameter name="o">${x}</camunda:outputParameter></camunda:inputOutput>',
                '<camunda:properties><camunda:property name="team" value="risk"/></camunda:properties>',
                '<camunda:executionListener event="end" expression="${execution.setVariable(\'done\', true)}"/>',
                attributes='camunda:asyncBefore="true"',
            ),
            [
                '<zeebe:input source="=[&quot;a&quot;, b]" target="l"/>',
                '<zeebe:input source="={&quot;k&quot;: &quot;1&quot;}" target="m"/>',
                '<zeebe:output source="=x" target="o"/>',
                '<zeebe:output source="=true" target="done"/>',
                '<zeebe:property name="team" value="risk"/>',
            ],
            [("dropped", "camunda:asyncBefore: nothing here needs it")],
        ),
        (
            extended(
                "task",
                content='<multiInstanceLoopCharacteristics camunda:collection="parts" camunda:elementVariable="part">'
                "<completionCondition>${nrOfCompletedInstances == 2}</completionCondition>"
                "</multiInstanceLoopCharacteristics>",
            ),
            [
                '<zeebe:loopCharacteristics inputCollection="=parts" inputElement="part"/>',
                "<completionCondition>=numberOfCompletedInstances = 2</completionCondition>",
            ],
            [],
        ),
        (
            extended("receiveTask", attributes='messageRef="m"'),
            [
                '<zeebe:subscription correlationKey="=camunda.processInstance.businessId"/>',
                'name="=&quot;paid-&quot; + string(k)"',
            ],
            [("check", "the message '=\"paid-\" + string(k)' correlates by the business id of the instance")],
        ),
    ],
)
def test_an_element_takes_the_form_of_camunda_8(element, expected, notes):
    beside = '<message id="m" name="paid-${k}"/>' if "receiveTask" in element else ""
    _, text, found = converted(model(element, beside=beside))
    assert [piece for piece in expected if piece not in text] == []
    assert found == notes
    assert "camunda:" not in text.replace("xmlns:camunda", "")


def test_a_generated_form_is_a_file():
    fields = (
        '<camunda:formField id="ok" label="Approve?" type="boolean" defaultValue="true"/>'
        '<camunda:formField id="kind" type="enum"><camunda:value id="a" name="A"/><camunda:validation>'
        '<camunda:constraint name="required"/><camunda:constraint name="mine"/></camunda:validation>'
        "</camunda:formField>"
        '<camunda:formField id="n" type="long"><camunda:validation><camunda:constraint name="min" config="1"/>'
        "</camunda:validation></camunda:formField>"
    )
    done, text, notes = converted(model(extended("userTask", f"<camunda:formData>{fields}</camunda:formData>")))
    assert '<zeebe:formDefinition formId="it-form"/>' in text
    form = json.loads(done.files["it-form.form"])
    ok, kind, number = form["components"]
    assert (ok["type"], ok["label"], ok["defaultValue"]) == ("checkbox", "Approve?", True)
    assert (kind["values"], kind["validate"]) == ([{"label": "A", "value": "a"}], {"required": True})
    assert (number["type"], number["validate"]) == ("number", {"min": 1})
    assert notes == [
        ("todo", "the field 'kind' has the constraint 'mine'"),
        ("check", "the generated form is a file of its own"),
    ]
    Models({"p.bpmn": done.content, **done.files})


def test_the_parameters_of_a_connector_are_mappings():
    parameters = (
        '<camunda:inputOutput><camunda:inputParameter name="url">https://example.org/${id}</camunda:inputParameter>'
        '<camunda:outputParameter name="total">${response.total}</camunda:outputParameter></camunda:inputOutput>'
    )
    connector = (
        f"<camunda:connector>{parameters}<camunda:connectorId>http-connector</camunda:connectorId></camunda:connector>"
    )
    _, text, notes = converted(model(extended("serviceTask", connector)))
    assert '<zeebe:input source="=&quot;https://example.org/&quot; + string(id)" target="url"/>' in text
    assert '<zeebe:output source="=response.total" target="total"/>' in text
    assert ("todo", "it uses the connector 'http-connector'") in notes


def test_the_script_of_a_listener_is_in_a_header_of_its_job():
    script = '<camunda:script scriptFormat="groovy">a = 1</camunda:script>'
    listener = f'<camunda:executionListener event="start">{script}</camunda:executionListener>'
    _, text, notes = converted(model(extended("task", listener)))
    assert '<zeebe:executionListener eventType="start" type="it-start">' in text
    assert '<zeebe:header key="script" value="a = 1"/>' in text
    assert notes == [("todo", "the script of a listener of 'start' is a job of the type 'it-start'")]


def test_the_script_of_a_task_listener_stays_in_the_file():
    script = '<camunda:script scriptFormat="groovy">a = 1</camunda:script>'
    listener = f'<camunda:taskListener event="create">{script}</camunda:taskListener>'
    _, text, notes = converted(model(extended("userTask", listener)))
    assert "a = 1</camunda:script>" in text
    assert notes == [("todo", "camunda:taskListener has no counterpart")]


def test_generated_forms_of_elements_without_ids_have_names_of_their_own():
    form = '<extensionElements><camunda:formData><camunda:formField id="ok"/></camunda:formData></extensionElements>'
    done = convert(read(model(f"<userTask>{form}</userTask><userTask>{form}</userTask>")))
    assert list(done.files) == ["form-form.form", "form-form-2.form"]


def test_the_process_keeps_its_tag_and_the_life_of_its_history():
    process = 'camunda:versionTag="v3" camunda:historyTimeToLive="30" camunda:candidateStarterGroups="sales"'
    _, text, notes = converted(model("<task id='it'/>", process=process))
    assert '<zeebe:versionTag value="v3"/>' in text
    assert '<zeebe:property name="vivero.retention" value="P30D"/>' in text
    assert notes == [("todo", "camunda:candidateStarterGroups has no counterpart")]


def test_what_has_no_rule_stays_with_a_note_at_its_line():
    content = model(
        "\n<task id='it' camunda:unknown='1'>\n"
        "<extensionElements><camunda:own><camunda:x/></camunda:own></extensionElements></task>"
    )
    done = convert(read(content))
    assert b'camunda:unknown="1"' in done.content
    assert b"<camunda:own>" in done.content
    assert [(note.line, note.element, note.text) for note in done.notes if note.care is Care.TODO] == [
        (2, "it", "camunda:unknown has no counterpart"),
        (3, "it", "camunda:own has no counterpart"),
    ]


def test_conditions_and_scripts_of_conditions():
    flows = (
        '<exclusiveGateway id="it" default="no"/><endEvent id="f"/>'
        '<sequenceFlow id="yes" sourceRef="it" targetRef="f">'
        "<conditionExpression>${a &gt; 1}</conditionExpression></sequenceFlow>"
        '<sequenceFlow id="no" sourceRef="it" targetRef="f"/>'
        '<sequenceFlow id="or" sourceRef="it" targetRef="f">'
        '<conditionExpression language="groovy">a == 2</conditionExpression></sequenceFlow>'
    )
    done = convert(read(model(flows)))
    assert b"<conditionExpression>=a &gt; 1</conditionExpression>" in done.content
    assert [(note.element, note.text) for note in done.notes] == [("or", "conditionExpression is a script in groovy")]


def test_a_converted_model_runs():
    element = extended("serviceTask", attributes=f'{EXTERNAL}"double"')
    models = Models({"p.bpmn": convert(read(model(element))).content})
    result = start(models, {"n": 2}, now=BEGIN)
    [job] = result.instance.available_jobs
    assert job.type == "double"
    assert complete(models, result.snapshot, job.key, {"n": 4}).instance.state == "COMPLETED"


def test_comments_stay_and_the_platform_is_named():
    content = model("<!-- why --><task id='it' camunda:asyncAfter='true'/>")
    assert is_camunda7(read(content))
    done = convert(read(content))
    assert b"<!-- why -->" in done.content
    assert b'modeler:executionPlatform="Camunda Cloud"' in done.content
    assert not is_camunda7(read(done.content))
    assert convert(read(done.content)).content == done.content, "a second conversion changes nothing"


@pytest.mark.parametrize("content", [b"<a", b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', b"\xff\xfe\x00"])
def test_files_that_cannot_be_read_are_refused(content):
    with pytest.raises(Unreadable):
        convert(read(content))


LOOP = '<multiInstanceLoopCharacteristics camunda:collection="my-parts"><extensionElements>'
LOOP += "<camunda:failedJobRetryTimeCycle>R3/PT1M</camunda:failedJobRetryTimeCycle></extensionElements>"
LOOP += "</multiInstanceLoopCharacteristics>"
PARTS = '<camunda:inputOutput><camunda:inputParameter name="x">${parts[loopCounter]}</camunda:inputParameter>'
PARTS += "</camunda:inputOutput>"


@pytest.mark.parametrize(
    ("element", "expected", "notes"),
    [
        (
            extended(
                "serviceTask",
                '<camunda:field name="x"><!-- why --><camunda:string>a<?b c?></camunda:string></camunda:field>',
                attributes=f'{EXTERNAL}"t"',
            ),
            ['<zeebe:header key="x" value="a"/>'],
            [("check", "the external task of the topic t is a job of this type")],
        ),
        (
            extended(
                "task", content="<multiInstanceLoopCharacteristics><loopCardinality>${<!-- n -->n}</loopCardinality>"
            ).replace("</task>", "</multiInstanceLoopCharacteristics></task>"),
            ["<loopCardinality>=n</loopCardinality>"],
            [],
        ),
        (
            extended("task", PARTS, content=LOOP),
            ['inputCollection="=`my-parts`"', 'source="=parts[loopCounter + 1]"'],
            [
                ("todo", "camunda:failedJobRetryTimeCycle has no counterpart"),
                ("check", "the parameter 'x' ${parts[loopCounter]} takes an item of a list"),
                ("check", "it uses loopCounter"),
            ],
        ),
        (
            extended("callActivity", '<camunda:out source="a-b" target="c"/>', attributes='calledElement="x"'),
            ['<zeebe:output source="=`a-b`" target="c"/>'],
            [],
        ),
        (
            extended(
                "task",
                r'<camunda:inputOutput><camunda:inputParameter name="m"><camunda:map><camunda:entry key="\">1'
                "</camunda:entry></camunda:map></camunda:inputParameter></camunda:inputOutput>",
            ),
            [r'source="={&quot;\\&quot;: &quot;1&quot;}"'],
            [],
        ),
        (
            extended("businessRuleTask", attributes='camunda:decisionRef="d" camunda:resultVariable="r"'),
            ['decisionId="d"'],
            [("check", "the result was mapped by resultList")],
        ),
        (
            extended(
                "userTask",
                '<camunda:taskListener event="create" class="a.B"><camunda:field name="f"/></camunda:taskListener>',
            ),
            ['type="b"'],
            [
                ("todo", "the listener a.B of 'create' is a job of the type 'b'"),
                ("todo", "the listener a.B had the fields f"),
            ],
        ),
        (
            extended("scriptTask", content=f"<script>{'x' * 20_001}</script>", attributes='scriptFormat="groovy"'),
            ['<zeebe:header key="language" value="groovy"/>'],
            [
                ("todo", "the script has 20001 characters"),
                ("todo", "the script in groovy is a job of the type 'it'"),
            ],
        ),
    ],
    ids=["comment", "comment-in-text", "loop", "name", "key", "decision", "fields", "script"],
)
def test_odd_models_keep_their_meaning_or_get_a_note(element, expected, notes):
    _, text, found = converted(model(element))
    assert [piece for piece in expected if piece not in text] == []
    assert found == notes


CALL = "callActivity"


@pytest.mark.parametrize(
    ("element", "expected", "notes"),
    [
        (
            extended(CALL, '<camunda:in variables="all" local="true"/>', attributes='calledElement="q"'),
            ['propagateAllParentVariables="false"'],
            [],
        ),
        (
            extended(CALL, '<camunda:out source="x" target="y" local="true"/>', attributes='calledElement="q"'),
            ['<zeebe:output source="=x" target="y"/>'],
            [("check", "the variable 'y' stays in the call activity")],
        ),
        (
            extended("userTask", attributes='camunda:dueDate="PT1H" camunda:followUpDate="2027-01-01T00:00:00Z"'),
            ['dueDate="=now() + duration(&quot;PT1H&quot;)"', 'followUpDate="2027-01-01T00:00:00Z"'],
            [],
        ),
        (
            extended(
                "exclusiveGateway",
                '<camunda:inputOutput><camunda:inputParameter name="x">1</camunda:inputParameter>'
                "</camunda:inputOutput>",
            ),
            ["<camunda:inputOutput>"],
            [("todo", "camunda:inputOutput has no counterpart")],
        ),
        (
            extended(
                "serviceTask",
                "<camunda:properties/>",
                attributes=f'{EXTERNAL}"t"',
                content='<extensionElements><camunda:inputOutput><camunda:inputParameter name="x">1'
                "</camunda:inputParameter></camunda:inputOutput></extensionElements>",
            ),
            ['<zeebe:input source="1" target="x"/>'],
            [("check", "the external task of the topic t is a job of this type")],
        ),
    ],
    ids=["all-local-in", "local-out", "duration", "gateway", "two-extensions"],
)
def test_what_camunda_8_does_in_another_way(element, expected, notes):
    _, text, found = converted(model(element))
    assert [piece for piece in expected if piece not in text] == []
    assert found == notes


@pytest.mark.parametrize("date", ["Pay day", 'PT1H", x'])
def test_a_date_that_is_neither_a_date_nor_a_duration_stays_for_the_deployment_to_refuse(date):
    task = extended("userTask", attributes=f"camunda:dueDate='{date}'")
    content = convert(read(model(task))).content
    (problem,) = parse(content, "p.bpmn").problems
    assert f"dueDate: {date!r} is not a date" in problem.message


def test_a_note_so_far_down_that_lines_are_not_counted_has_none():
    for before, line in ((65_533, 65_534), (65_534, None), (70_000, None)):
        content = model("\n" * before + "<task id='it' camunda:unknown='1'/>")
        assert [note.line for note in convert(read(content)).notes] == [line]


@pytest.mark.parametrize("number", ["--5", "²", "9" * 5000])
def test_a_form_keeps_a_number_that_is_none_as_a_text(number):
    field = f'<camunda:formField id="n" type="long" defaultValue="{number}"/>'
    done = convert(read(model(extended("userTask", f"<camunda:formData>{field}</camunda:formData>"))))
    assert json.loads(done.files["it-form.form"])["components"][0]["defaultValue"] == number
