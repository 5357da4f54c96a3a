"""Deployments over HTTP: multipart bodies, all problems at once, bytes stored before the command is appended."""

import hashlib
from itertools import pairwise

import pytest

from tests.api.official import decode
from vivero.api.deployment.cluster_variables import named_in
from vivero.core.records.catalogue import (
    Deploy,
    DeployedForm,
    DeployedGenericResource,
    DeployedProcess,
    DeploymentReply,
    FormMetadata,
    GenericResourceMetadata,
    ProcessMetadata,
    ResourceReference,
)
from vivero.storage.postgres.errors import ConnectionLost
from vivero.storage.reads import deployed_files, expression_context

KEY = 2251799813685249
TYPE = (b"content-type", b"multipart/form-data; boundary=xyz")


def process(id="order", more=""):
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" targetNamespace="t">
  <process id="{id}" name="Order &amp; pay" isExecutable="true"><startEvent id="s"/>{more}</process>
</definitions>""".encode()


def part(content, name="resources", file_name="order.bpmn", header=None):
    disposition = f'form-data; name="{name}"' + (f'; filename="{file_name}"' if file_name is not None else "")
    head = f"Content-Disposition: {disposition}\r\n".encode() if header is None else header
    return b"--xyz\r\n" + head + b"\r\n" + content + b"\r\n"


def body(*parts):
    return b"".join(parts) + b"--xyz--\r\n"


@pytest.fixture
def engine(engine):
    engine.reply = DeploymentReply(
        KEY,
        "<default>",
        (
            DeployedProcess("order", 1, "order.bpmn", "<default>", KEY + 1),
            DeployedProcess("bill", 4, "bill.bpmn", "<default>", KEY + 2),
        ),
    )
    return engine


async def test_files_are_deployed(rows, reader, stored, engine):
    files = [process(), process("bill")]
    answer = await reader(
        "POST",
        "/v2/deployments",
        body(part(files[0]), part(files[1], file_name="bill.bpmn"), part(b"<default>", "tenantId", None)),
        [TYPE],
    )
    assert (answer.status, answer.headers[b"command-position"]) == (200, b"1")
    nothing = {"decisionDefinition": None, "decisionRequirements": None, "form": None, "resource": None}
    assert answer.json == {
        "deploymentKey": str(KEY),
        "tenantId": "<default>",
        "deployments": [
            {
                "processDefinition": {
                    "processDefinitionId": id,
                    "processDefinitionVersion": version,
                    "resourceName": f"{id}.bpmn",
                    "tenantId": "<default>",
                    "processDefinitionKey": str(KEY + n),
                },
                **nothing,
            }
            for n, (id, version) in enumerate((("order", 1), ("bill", 4)), 1)
        ],
        "warnings": [],
        "commandPosition": "1",
    }
    digests = [hashlib.sha256(file).hexdigest() for file in files]
    assert engine.command == Deploy(
        (
            ResourceReference("order.bpmn", digests[0], (ProcessMetadata("order", "Order & pay", None),)),
            ResourceReference("bill.bpmn", digests[1], (ProcessMetadata("bill", "Order & pay", None),)),
        )
    )
    assert dict(rows.execute("SELECT sha256, bytes FROM resources").fetchall()) == dict(
        zip(digests, files, strict=True)
    )
    assert list(stored.files.definitions.parsed) == digests
    assert stored.files.definitions.parsed[digests[1]].processes[0].id == "bill"


FORM = b'{"id": "ask", "components": [], "versionTag": "v1"}'


async def deployed(reader, services, content):
    answer = await reader("POST", "/v2/deployments", body(part(content)), [TYPE])
    assert answer.status == 200, answer.problem
    (parsed,) = services.files.definitions.parsed.values()
    return parsed.processes[0]


async def test_large_files_are_read_elsewhere(rows, reader, stored, engine, services):
    tasks = "".join(f'<task id="t{i}"/><sequenceFlow id="f{i}" sourceRef="s" targetRef="t{i}"/>' for i in range(300))
    found = await deployed(reader, services, process(more=tasks))
    assert (len(found.nodes), len(found.flows), services.files.compute.stats.done) == (302, 300, 1)
    assert engine.command.resources[0].processes[0].id == "order"


TIMER = '<startEvent id="t"><timerEventDefinition><timeCycle>{}</timeCycle></timerEventDefinition></startEvent>'


@pytest.mark.parametrize(
    ("cycle", "elsewhere"), [("R3/PT1H", 0), ('=cycle(3, duration(if now() = null then "PT2H" else "PT1H"))', 1)]
)
async def test_start_events_are_evaluated_elsewhere(rows, reader, stored, services, cycle, elsewhere):
    """They may use all steps of an expression, in a file of any size."""
    more = TIMER.format(cycle.replace('"', "&quot;"))
    assert "t" in (await deployed(reader, services, process(more=more))).nodes
    assert services.files.compute.stats.done == elsewhere


async def test_the_problems_of_large_files_are_the_same(client, engine, services):
    bad = process(more='<task id="s"/>' + "<!-- long -->" * 500)
    answer = await client("POST", "/v2/deployments", body(part(bad)), [TYPE])
    assert (answer.status, services.files.compute.stats.done, engine.appended) == (400, 1, [])
    assert "'order.bpmn' line 3 element 's'" in answer.problem["detail"]


async def test_forms_are_deployed(rows, reader, stored, engine):
    engine.reply = DeploymentReply(KEY, "<default>", (), (DeployedForm("ask", 3, "ask.form", "<default>", KEY + 3),))
    answer = await reader("POST", "/v2/deployments", body(part(FORM, file_name="ask.form")), [TYPE])
    assert answer.status == 200
    nothing = dict.fromkeys(("processDefinition", "decisionDefinition", "decisionRequirements", "resource"))
    form = {"formId": "ask", "version": 3, "resourceName": "ask.form", "tenantId": "<default>"}
    assert answer.json["deployments"] == [nothing | {"form": form | {"formKey": str(KEY + 3)}}]
    assert decode("DeploymentResult", answer.json).deployments[0].form.form_id == "ask"
    digest = hashlib.sha256(FORM).hexdigest()
    assert engine.command == Deploy((ResourceReference("ask.form", digest, (), FormMetadata("ask", "v1")),))
    assert rows.execute("SELECT sha256, bytes FROM resources").fetchall() == [(digest, FORM)]
    assert stored.files.definitions.parsed == {}


async def test_any_other_file_is_deployed_as_it_is(rows, reader, stored, engine):
    made = DeployedGenericResource("note.md", 3, "note.md", "<default>", KEY + 3)
    engine.reply = DeploymentReply(KEY, "<default>", (), resources=(made,))
    content = b"\x00\xff note"
    answer = await reader("POST", "/v2/deployments", body(part(content, file_name="note.md")), [TYPE])
    nothing = dict.fromkeys(("processDefinition", "decisionDefinition", "decisionRequirements", "form"))
    resource = {"resourceId": "note.md", "version": 3, "resourceName": "note.md", "tenantId": "<default>"}
    assert answer.json["deployments"] == [nothing | {"resource": resource | {"resourceKey": str(KEY + 3)}}]
    assert decode("DeploymentResult", answer.json).deployments[0].resource.resource_id == "note.md"
    digest = hashlib.sha256(content).hexdigest()
    reference = ResourceReference("note.md", digest, generic=GenericResourceMetadata("note.md"))
    assert engine.command == Deploy((reference,))
    assert rows.execute("SELECT sha256, bytes FROM resources").fetchall() == [(digest, content)]


@pytest.mark.harmless
async def test_a_deployment_has_each_resource_once(client, engine):
    files = [part(b"a", file_name="note.md"), part(b"b", file_name="note.md")]
    detail = (await client("POST", "/v2/deployments", body(*files), [TYPE])).problem["detail"]
    assert "'(2) note.md': resource 'note.md' is also in 'note.md'" in detail
    assert engine.appended == []


LINK = (
    '<serviceTask id="t" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"><extensionElements>'
    '<zeebe:taskDefinition type="w"/><zeebe:linkedResources>'
    '<zeebe:linkedResource resourceId="{}" resourceType="{}" {}/></zeebe:linkedResources></extensionElements>'
    "</serviceTask>"
)
TAGGED = 'bindingType="versionTag" versionTag="v1"'
BOUND = 'bindingType="deployment"'


@pytest.mark.parametrize(
    ("id", "type", "binding", "lacks"),
    [
        ("note.md", "text", "", None),
        ("note.md", "text", TAGGED, "no resource 'note.md' with the version tag 'v1' is deployed"),
        ("note.md", "text", BOUND, "the resource 'note.md' is not in this deployment"),
        ("robot", "RPA", TAGGED, None),
        ("robot", "FORM", "", "no form 'robot' is deployed"),
        ("gone", "RPA", "", "no resource 'gone' is deployed"),
        ("other", "RPA", "", "no resource 'other' is deployed"),
        ("here.md", "text", BOUND, None),
        ("here.md", "text", "", None),
        ("=x", "text", "", None),
    ],
)
async def test_a_linked_file_that_is_not_there_is_a_warning(rows, reader, stored, engine, id, type, binding, lacks):
    rows.generic_resource(KEY + 40, resource_id="note.md")
    rows.generic_resource(KEY + 41, version_tag="v1")
    rows.generic_resource(KEY + 42, resource_id="gone", state="DELETED")
    rows.generic_resource(KEY + 43, resource_id="other", tenant_id="other")
    files = part(process(more=LINK.format(id, type, binding))), part(b"a", file_name="here.md")
    answer = await reader("POST", "/v2/deployments", body(*files), [TYPE])
    found = [text for text in answer.json["warnings"] if "the task becomes an incident" in text]
    assert [lacks in text for text in found] == ([] if lacks is None else [True])


TASK = (
    '<userTask id="t" xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"><extensionElements>{}'
    '<zeebe:formDefinition formId="{}" bindingType="{}" versionTag="{}"/></extensionElements></userTask>'
)


@pytest.mark.parametrize("native", ["<zeebe:userTask/>", ""])
@pytest.mark.parametrize(
    ("form_id", "binding", "tag", "warned"),
    [
        ("ask", "deployment", "", False),
        ("other", "deployment", "", True),
        ("other", "latest", "", False),
        ("other", "versionTag", "v", False),
        ("=x", "deployment", "", False),
    ],
)
@pytest.mark.harmless
async def test_a_form_that_is_not_deployed_with_its_process_is_a_warning(
    rows, reader, engine, native, form_id, binding, tag, warned
):
    files = [part(process("p", TASK.format(native, form_id, binding, tag))), part(FORM, file_name="ask.form")]
    answer = await reader("POST", "/v2/deployments", body(*files), [TYPE])
    assert answer.status == 200
    expected = "'order.bpmn' line 3 element 't': the form 'other' is not in this deployment"
    assert [each.startswith(expected) for each in answer.json["warnings"] if "binding" in each] == [True] * warned


SCRIPT = (
    '<scriptTask id="t"><extensionElements><zeebe:script xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"'
    ' expression="={}" resultVariable="r"/></extensionElements></scriptTask>'
)


@pytest.mark.parametrize(
    ("expression", "lacking"),
    [
        ("camunda.vars.env.everywhere", []),
        ("camunda . vars. cluster\n .everywhere.deeper", []),
        ("camunda.vars.tenant.everywhere", ["'everywhere' of the tenant: until"]),
        ("camunda.vars.tenant.mine + camunda.vars.env.mine", []),
        ("camunda.vars.cluster.mine", ["'mine' of the cluster: until"]),
        ("camunda.vars.env.`not-there`", ["'not-there' of the cluster or the tenant: until"]),
        ("camunda.vars.env.a + camunda.vars.env.b + camunda.vars.env.a", ["'a' of", "'b' of"]),
        ("camunda.processInstance.key", []),
        ("x.camundax.vars.env.a", []),
        ("get value(camunda.vars.env, name)", []),
    ],
)
async def test_a_cluster_variable_that_does_not_exist_is_a_warning(rows, reader, engine, expression, lacking):
    for tenant, name in (("", "everywhere"), ("<default>", "mine"), ("blue", "a"), ("blue", "b")):
        rows.put("cluster_variables", tenant_id=tenant, name=name, value="1", normal="1", metadata="{}")
    answer = await reader("POST", "/v2/deployments", body(part(process(more=SCRIPT.format(expression)))), [TYPE])
    found = [each for each in answer.json["warnings"] if "cluster variable" in each]
    assert len(found) == len(lacking)
    for warning, text in zip(found, lacking, strict=True):
        assert warning.startswith(f"'order.bpmn' line 3: there is no cluster variable {text}")


async def test_cluster_variables_that_cannot_be_looked_up_are_a_warning(rows, reader, engine, monkeypatch):
    async def lost(*_):
        raise ConnectionLost("gone")

    monkeypatch.setattr(expression_context, "known", lost)
    answer = await reader(
        "POST", "/v2/deployments", body(part(process(more=SCRIPT.format("camunda.vars.env.x")))), [TYPE]
    )
    assert answer.status == 200
    assert "could not be looked up: check that they exist" in str(answer.json["warnings"])


def test_a_file_with_many_cluster_variables_is_read_once():
    class Counted(bytes):
        def count(self, *where):
            spans.append(where[1:])
            return super().count(*where)

    spans = []
    content = Counted(b"".join(b"camunda.vars.env.a%d\n" % n for n in range(1000)))
    assert [each.line for each in named_in("x.bpmn", content)] == list(range(1, 1001))
    assert all(end == start for (_, end), (start, _) in pairwise(spans))


OUTSIDE = [
    "../x.bpmn",
    "a/../../x.bpmn",
    "/etc/x.bpmn",
    "a\\\\..\\\\x.bpmn",
    "../" * 500 + "x.bpmn",
    "C:/models/x.bpmn",
    "C:x.bpmn",
    "/models/C:x.bpmn",
    "c:" * 500 + "x.bpmn",
    "//s/x.bpmn",
]


@pytest.mark.parametrize("file_name", OUTSIDE)
@pytest.mark.harmless
async def test_a_file_name_that_leads_out_of_its_folder_is_stored_by_its_last_part(rows, reader, engine, file_name):
    answer = await reader("POST", "/v2/deployments", body(part(process(), file_name=file_name)), [TYPE])
    assert engine.command.resources[0].name == "x.bpmn"
    sent = file_name.replace("\\\\", "\\")
    assert answer.json["warnings"] == [
        f"'{sent}' leads out of the folder of its deployment: the file is deployed as 'x.bpmn'"
    ]


@pytest.mark.parametrize("file_name", ["..", ".", "a/", "/", "a/..", "..\\\\", "C:", "C:.."])
async def test_a_file_name_without_a_last_part_is_refused(client, engine, file_name):
    answer = await client("POST", "/v2/deployments", body(part(process(), file_name=file_name)), [TYPE])
    assert (answer.status, engine.appended) == (400, [])
    assert f"and '{file_name.replace(chr(92) * 2, chr(92))}' is none" in answer.problem["detail"]


async def test_generic_resources_whose_paths_end_alike_are_told_apart_by_the_client_alone(client, engine):
    files = [part(b"1", file_name="../a/prompt.md"), part(b"2", file_name="../b/prompt.md")]
    answer = await client("POST", "/v2/deployments", body(*files), [TYPE])
    assert (answer.status, engine.appended) == (400, [])
    assert "resource 'prompt.md' is also in 'prompt.md'" in answer.problem["detail"]


@pytest.mark.harmless
async def test_models_whose_paths_end_alike_are_deployed_under_one_name(reader, rows, engine):
    files = [part(process(id), file_name=f"../{id}/x.bpmn") for id in ("a", "b")]
    answer = await reader("POST", "/v2/deployments", body(*files), [TYPE])
    assert [(one.name, one.sha256) for one in engine.command.resources] == [
        ("x.bpmn", hashlib.sha256(process(id)).hexdigest()) for id in ("a", "b")
    ]
    assert [warning.partition("deployed as ")[::2] for warning in answer.json["warnings"]] == [
        (
            f"'../{id}/x.bpmn' leads out of the folder of its deployment: the file is ",
            "'x.bpmn', which is the name of 2 files of this request",
        )
        for id in ("a", "b")
    ]


async def test_a_process_in_two_models_whose_paths_end_alike_is_refused(client, engine):
    files = [part(process() + b" " * n, file_name=f"../{n}/x.bpmn") for n in range(2)]
    answer = await client("POST", "/v2/deployments", body(*files), [TYPE])
    assert (answer.status, engine.appended) == (400, [])
    assert "'(2) x.bpmn': process 'order' is also in 'x.bpmn'" in answer.problem["detail"]


@pytest.mark.parametrize(
    "file_name", ["a/x.bpmn", "./x.bpmn", "a..b.bpmn", "a b.bpmn", "ü.bpmn", 'q\\"uote.bpmn', "C:\\\\x.bpmn"]
)
@pytest.mark.harmless
async def test_file_names_are_kept(rows, reader, engine, file_name):
    await reader("POST", "/v2/deployments", body(part(process(), file_name=file_name)), [TYPE])
    assert engine.command.resources[0].name == file_name.replace('\\"', '"').replace("C:\\\\", "")


@pytest.mark.parametrize(
    ("disposition", "name"),
    [
        # .NET and PowerShell
        ("name=resources; filename=\"=?utf-8?B?Z3LDtsOfZS5icG1u?=\"; filename*=utf-8''gr%C3%B6%C3%9Fe.bpmn",
         "größe.bpmn"),
        ("name=resources; filename=plain.bpmn; filename*=utf-8''plain.bpmn", "plain.bpmn"),
        ("name=\"resources\"; filename=\"=?utf-8?B?Z3LDtsOfZS5icG1u?=\"", "größe.bpmn"),
        # RFC 8187, in any order and spelling
        ("name=\"resources\"; filename*=UTF-8''gr%C3%B6%C3%9Fe.bpmn", "größe.bpmn"),
        ("name=\"resources\"; filename*=UTF-8'de'gr%c3%b6%c3%9fe.bpmn; filename=\"x.bpmn\"", "größe.bpmn"),
        ("name=\"resources\"; filename*=iso-8859-1''gr%F6%DFe.bpmn", "größe.bpmn"),
        ("NAME=\"resources\"; FileName*=ISO-8859-1'en'gr%F6%DFe.bpmn", "größe.bpmn"),
        ("name=\"resources\"; filename*=\"UTF-8''gr%C3%B6%C3%9Fe.bpmn\"", "größe.bpmn"),
        ("name=resources ; filename* = UTF-8''a%3B%22%27b.bpmn", "a;\"'b.bpmn"),
        # what cannot be read leaves the plain name
        ("name=\"resources\"; filename*=UTF-8''%FF.bpmn; filename=\"x.bpmn\"", "x.bpmn"),
        ("name=\"resources\"; filename=\"x.bpmn\"; filename*=nonsense", "x.bpmn"),
        ("name=\"resources\"; filename=\"x.bpmn\"; filename*=klingon''y.bpmn", "x.bpmn"),
        # RFC 2047
        ("name=\"resources\"; filename=\"=?UTF-8?Q?gr=C3=B6=C3=9Fe_1.bpmn?=\"", "größe 1.bpmn"),
        ("name=\"resources\"; filename=\"=?iso-8859-1?q?gr=F6=DFe.bpmn?=\"", "größe.bpmn"),
        ("name=\"resources\"; filename==?utf-8?b?Z3LDtsOfZS5icG1u?=", "größe.bpmn"),
        ("name=\"resources\"; filename=\"=?utf-8*de?B?Z3LDtg==?= =?utf-8?Q?=C3=9Fe.bpmn?=\"", "größe.bpmn"),
        ("name=\"resources\"; filename=\"=?utf-8?B?Z3LD?= =?utf-8?B?tsOfZS5icG1u?=\"", "größe.bpmn"),
        ("name=\"resources\"; filename=\"=?utf-8?B?Z3LDtg?=.bpmn\"", "grö.bpmn"),
        ("name=\"resources\"; filename=\"a =?utf-8?B?Z3LDtg==?=.bpmn\"", "a =?utf-8?B?Z3LDtg==?=.bpmn"),
        # quoted strings, and their absence
        ("name=\"resources\"; filename=\"größe.bpmn\"", "größe.bpmn"),
        ("name=\"resources\"; filename=größe.bpmn", "größe.bpmn"),
        ("name=\"resources\"; filename=\"a;b=c.bpmn\"", "a;b=c.bpmn"),
        ("name=\"resources\"; filename=\"a\\\"b\\\\c\\d.bpmn\"", "a\"b\\c\\d.bpmn"),
        ("name=\"resources\"; filename=\"gr%C3%B6.bpmn\"", "gr%C3%B6.bpmn"),
        ("name=\"resources\";filename=\"models/a/order.bpmn\";", "models/a/order.bpmn"),
        ("name=\"resources\"; filename=\"C:\\models\\order.bpmn\"", "order.bpmn"),
        ("name=\"resources\"; filename=\"a.bpmn\"; filename=\"b.bpmn\"", "a.bpmn"),
        ("name=\"resources\"; x-filename=\"b.bpmn\"; filename=\"a.bpmn\"", "a.bpmn"),
    ],
)  # fmt: skip
@pytest.mark.harmless
async def test_file_names_in_all_encodings(rows, reader, engine, disposition, name):
    head = f"Content-Disposition: form-data; {disposition}\r\n".encode()
    answer = await reader("POST", "/v2/deployments", body(part(process(), header=head)), [TYPE])
    assert answer.status == 200, answer.body
    assert engine.command.resources[0].name == name


@pytest.mark.parametrize(
    "disposition",
    [
        "name=\"resources\"; filename*=UTF-8''%FF.bpmn",
        'name="resources"; filename*=x.bpmn',
        "name=\"resources\"; filename*=UTF-8''%0A.bpmn",
        "name=\"resources\"; filename*=UTF-8''a%00.bpmn",
        "name=\"resources\"; filename*=klingon''a.bpmn",
        "name=\"resources\"; filename*=hex''6162.bpmn",
        "name=\"resources\"; filename*=UTF-8''a%4",
        'name="resources"; filename="=?utf-8?B?!!!!?="',
        'name="resources"; filename="=?utf-8?B?/w==?="',
        'name="resources"; filename="=?utf-7?Q?+2AA-.bpmn?="',
    ],
)
async def test_file_names_that_cannot_be_read(client, engine, disposition):
    head = f"Content-Disposition: form-data; {disposition}\r\n".encode()
    answer = await client("POST", "/v2/deployments", body(part(process(), header=head)), [TYPE])
    assert (answer.status, "a name" in answer.problem["detail"]) == (400, True)
    assert engine.appended == []


@pytest.mark.parametrize(
    "type", ["Multipart/Form-Data; Boundary=xyz", 'multipart/form-data ;charset=x; BOUNDARY="xyz"']
)
async def test_the_boundary_in_any_spelling(rows, reader, engine, type):
    answer = await reader("POST", "/v2/deployments", body(part(process())), [(b"content-type", type.encode())])
    assert answer.status == 200


async def test_files_of_one_name_are_deployed_together(rows, reader, engine):
    files = [process(), process("bill")]
    answer = await reader("POST", "/v2/deployments", body(*map(part, files)), [TYPE])
    assert answer.status == 200
    assert [(each.name, each.sha256, each.processes[0].id) for each in engine.command.resources] == [
        ("order.bpmn", hashlib.sha256(file).hexdigest(), id) for file, id in zip(files, ("order", "bill"), strict=True)
    ]


async def test_all_problems_are_named_at_once(client, engine):
    broken = process("a", '<serviceTask id="t"/><sequenceFlow id="f" sourceRef="s" targetRef="nowhere"/>')
    answer = await client(
        "POST",
        "/v2/deployments",
        body(
            part(broken, file_name="a.bpmn"),
            part(b"<x", file_name="b.bpmn"),
            part(b"{}", file_name="c.form"),
            part(FORM, file_name="f.form"),
            part(FORM, file_name="g.form"),
            part(process(), file_name="d.bpmn"),
            part(process(), file_name="e.bpmn"),
            part(process("f", "<task"), file_name="e.bpmn"),
        ),
        [TYPE],
    )
    detail = answer.problem["detail"]
    assert (answer.status, answer.problem["title"]) == (400, "INVALID_ARGUMENT")
    for expected in (
        "Command 'CREATE' rejected with code 'INVALID_ARGUMENT'",
        "'a.bpmn' line 3 element 't'",
        "nowhere",
        "'b.bpmn'",
        "'c.form'",
        "process 'order' is also in 'd.bpmn'",
        "'g.form': form 'ask' is also in 'f.form'; a deployment can contain a form id only once",
        "'(2) e.bpmn' line",
    ):
        assert expected in detail
    assert engine.appended == []


@pytest.mark.parametrize(
    ("content", "headers", "status"),
    [
        (b"{}", [(b"content-type", b"application/json")], 415),
        (b"", [], 415),
        (b"", [TYPE], 400),
        (body(part(process())), [(b"content-type", b"multipart/form-data")], 400),
        (body(part(process())), [(b"content-type", b"multipart/form-data; boundary=" + b"x" * 71)], 400),
        (body(part(process())), [(b"content-type", b"multipart/form-data; boundary=other")], 400),
        (body(), [TYPE], 400),
        (part(process()), [TYPE], 400),
        (part(process())[:-50], [TYPE], 400),
        (body(part(process(), file_name=None)), [TYPE], 400),
        (body(part(process(), file_name="")), [TYPE], 400),
        (body(part(process(), file_name="x" * 501)), [TYPE], 400),
        (body(part(process(), file_name="a\0.bpmn")), [TYPE], 400),
        (body(part(process(), name="files")), [TYPE], 400),
        (body(part(process()), part(b"other", "tenantId", None)), [TYPE], 400),
        (body(part(b"<default>", "tenantId", None)), [TYPE], 400),
        (body(part(process(), header=b"Content-Type: text/xml\r\n")), [TYPE], 400),
        (body(part(process(), header=b"Content-Disposition: attachment; name=resources\r\n")), [TYPE], 400),
        (body(part(process(), header=b'Content-Disposition: form-data; filename="a"\r\n')), [TYPE], 400),
        (body(part(process(), header=b"no colon\r\n")), [TYPE], 400),
        (body(part(process(), header=b"X: " + b"y" * 9000 + b"\r\n")), [TYPE], 400),
        (body(part(process(), header=b"".join(b"X-%d: y\r\n" % n for n in range(30)))), [TYPE], 400),
        (
            body(part(process(), header=b'Content-Disposition: form-data; name="resources"; filename="\xff"\r\n')),
            [TYPE],
            400,
        ),
        (body(*[part(b"x", file_name=f"{n}.bpmn") for n in range(102)]), [TYPE], 400),
        (b"\0" * 1000, [TYPE], 400),
    ],
)
async def test_bodies_that_are_no_deployment(client, engine, content, headers, status):
    answer = await client("POST", "/v2/deployments", content, headers)
    assert (answer.status, answer.problem["status"]) == (status, status)
    assert engine.appended == []


async def test_what_a_deployment_is_made_of_is_said(client):
    misnamed = await client("POST", "/v2/deployments", body(part(process(), name="file")), [TYPE])
    assert misnamed.problem["detail"].startswith("Request property [file] cannot be parsed: the parts of a deployment")
    bare = await client("POST", "/v2/deployments", process(), [(b"content-type", b"application/xml")])
    assert bare.problem["detail"] == "Content-Type 'application/xml' is not supported; use multipart/form-data"


async def test_a_deployment_has_a_limit_of_its_own(client, settings):
    large = body(part(b"x" * settings.max_deployment_bytes))
    assert (await client("POST", "/v2/deployments", large, [TYPE])).status == 413


async def test_every_piece_of_a_deployment_ends_in_an_answer(client, engine):
    whole = body(part(process("a", "<task")), part(b"<default>", "tenantId", None))
    for length in range(0, len(whole), 7):
        answer = await client("POST", "/v2/deployments", whole[:length], [TYPE])
        assert answer.status == 400, length
    assert engine.appended == []


async def test_an_idempotent_deployment_does_not_mind_its_boundary(rows, reader, engine):
    key = (b"idempotency-key", b"deploy-1")
    first = await reader("POST", "/v2/deployments", body(part(process())), [TYPE, key])
    other = body(part(process())).replace(b"xyz", b"abcdef")
    headers = [(b"content-type", b'multipart/form-data; boundary="abcdef"'), key]
    again = await reader("POST", "/v2/deployments", other, headers)
    assert (again.status, again.body) == (200, first.body)
    changed = await reader("POST", "/v2/deployments", body(part(process("other"))), [TYPE, key])
    assert changed.status == 422
    renamed = await reader("POST", "/v2/deployments", body(part(process(), file_name="new.bpmn")), [TYPE, key])
    assert renamed.status == 422
    assert len(engine.appended) == 1


REVIEW = """<userTask id="review"><extensionElements>
  <zeebe:userTask xmlns:zeebe="http://camunda.org/schema/zeebe/1.0"/>
  <zeebe:formDefinition xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" formId="{id}"/>
</extensionElements></userTask>"""
NUL = "=string join([&quot;a\\u0000b&quot;])"


async def warned(reader, form):
    file = process(more=REVIEW.format(id=form))
    answer = await reader("POST", "/v2/deployments", body(part(file)), [TYPE])
    assert answer.status == 200, answer.body
    return [warning for warning in answer.json["warnings"] if "form" in warning or "look" in warning]


@pytest.mark.parametrize("form", ["none", NUL], ids=["absent", "no text of PostgreSQL"])
async def test_a_form_that_is_not_there_is_a_warning(rows, reader, stored, engine, form):
    (warning,) = await warned(reader, form)
    assert "element 'review': no form '" in warning


CALL = """<callActivity id="call"><extensionElements>
  <zeebe:calledElement xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" processId="{}" bindingType="{}"/>
</extensionElements></callActivity>"""


@pytest.mark.parametrize(
    ("id", "binding", "warned"),
    [
        ("child", "deployment", False),
        ("absent", "deployment", True),
        ("absent", "latest", False),
        ("=x", "deployment", False),
    ],
)
@pytest.mark.harmless
async def test_a_call_of_what_is_not_deployed_with_it_is_a_warning(rows, reader, stored, engine, id, binding, warned):
    files = part(process(more=CALL.format(id, binding))), part(process("child"), file_name="child.bpmn")
    answer = await reader("POST", "/v2/deployments", body(*files), [TYPE])
    expected = "'order.bpmn' line 3 element 'call': the process 'absent' is not in this deployment"
    assert [warning.startswith(expected) for warning in answer.json["warnings"] if "binding" in warning] == [
        True
    ] * warned


async def test_a_deployment_that_is_done_does_not_fail_for_its_warnings(rows, reader, stored, engine, monkeypatch):
    async def away(*_arguments):
        raise ConnectionLost("gone")

    monkeypatch.setattr(deployed_files, "missing", away)
    (warning,) = await warned(reader, "none")
    assert "could not be looked up" in warning
