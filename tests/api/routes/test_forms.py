"""Forms over HTTP: by key, of a task, for a start; searches; and who may delete what."""

from codecs import BOM_UTF8

import pytest

from tests.api.changed_services import changed
from tests.api.conftest import Client
from tests.api.official import decode
from tests.api.rows import KEY, NOW
from vivero.api import app as api_app
from vivero.api.callers.caller import Caller
from vivero.api.callers.permissions import rights
from vivero.core.records.catalogue import DeleteResource
from vivero.storage.access.identities import Grant

FORM, TASK = KEY + 15, KEY + 50
SCHEMA = '{"id": "ask", "components": [{"type": "text", "text": "¿Qué?"}]}'


@pytest.fixture
def forms(rows):
    """A definition, and the deployed file of forms."""
    rows.execute("INSERT INTO resources (sha256, bytes) VALUES ('ff', %s)", [SCHEMA.encode()])
    return rows


@pytest.fixture
def task(forms):
    """Puts a user task with this form."""

    def put(form_key):
        forms.instance()
        forms.element()
        own = {"root_key": KEY, "process_instance_key": KEY, "element_instance_key": KEY + 1, "process_id": "order"}
        more = {"process_definition_key": KEY, "process_version": 1, "element_id": "task", "state": "CREATED"}
        lists: dict[str, list[str]] = {"candidate_groups": [], "candidate_users": [], "tags": []}
        last = {"priority": 50, "headers": "{}", "tenant_id": "<default>", "created_at": NOW, "form_key": form_key}
        forms.put("user_tasks", user_task_key=TASK, **own, **more, **lists, **last)

    return put


def expected(key=FORM, version=1):
    return {"tenantId": "<default>", "formId": "ask", "schema": SCHEMA, "version": version, "formKey": str(key)}


async def test_a_form_by_key(forms, reader):
    forms.form()
    answer = await reader("GET", f"/v2/forms/{FORM}")
    assert (answer.status, answer.json) == (200, expected())
    assert decode("FormResult", answer.json).schema == SCHEMA


async def test_a_byte_order_mark_is_no_part_of_a_schema(forms, reader):
    forms.form()
    forms.execute("UPDATE resources SET bytes = %s", [BOM_UTF8 + SCHEMA.encode()])
    assert (await reader("GET", f"/v2/forms/{FORM}")).json == expected()


async def test_a_deleted_form_is_only_for_the_tasks_that_have_it(task, forms, reader):
    forms.form(state="DELETED")
    task(FORM)
    assert (await reader("GET", f"/v2/user-tasks/{TASK}/form")).json == expected()
    problem = (await reader("GET", f"/v2/forms/{FORM}")).problem
    assert (problem["status"], problem["detail"]) == (404, f"Form with key '{FORM}' not found")
    assert (await reader("POST", "/v2/forms/search")).json["items"] == []


async def test_the_form_of_a_task_is_the_one_that_it_was_created_with(task, forms, reader):
    forms.form()
    forms.form(FORM + 1, version=2)
    task(FORM)
    assert (await reader("GET", f"/v2/user-tasks/{TASK}/form")).json == expected()
    assert (await reader("GET", f"/v2/user-tasks/{TASK}")).json["formKey"] == str(FORM)


START = {"start_form_id": "ask", "start_form_binding": "latest"}


@pytest.mark.parametrize(
    ("start", "version"),
    [
        ({}, 3),
        ({"start_form_binding": "deployment"}, 2),
        ({"start_form_binding": "versionTag", "start_form_version_tag": "v1"}, 1),
        ({"start_form_binding": "versionTag", "start_form_version_tag": "v9"}, None),
        ({"start_form_id": "other"}, None),
        ({"tenant_id": "other"}, None),
        ({"start_form_id": None, "start_form_binding": None}, None),
    ],
)
async def test_the_binding_selects_the_version_of_a_start_form(forms, reader, start, version):
    forms.definition(deployment_key=KEY + 2, **(START | start))
    for number, tag in ((1, "v1"), (2, "v1-b"), (3, None), (4, "v9")):
        state = "DELETED" if number == 4 else "ACTIVE"
        forms.form(FORM + number, version=number, deployment_key=KEY + number, version_tag=tag, state=state)
    answer = await reader("GET", f"/v2/process-definitions/{KEY}/form")
    if version is None:
        assert (answer.status, answer.body) == (204, b"")
    else:
        assert answer.json == expected(FORM + version, version)


async def test_definitions_with_a_start_form_can_be_found(rows, reader):
    rows.definition(**START)
    rows.definition(KEY + 1, version=2)
    for flag in (True, False):
        answer = await reader("POST", "/v2/process-definitions/search", {"filter": {"hasStartForm": flag}})
        assert [item["hasStartForm"] for item in answer.json["items"]] == [flag]


async def test_forms_are_searched_and_are_no_resources(forms, reader):
    forms.form(version_tag="v1")
    forms.form(FORM + 1, form_id="other", deployment_key=KEY + 5)
    body = {"filter": {"formId": {"$like": "a*"}, "deploymentKey": str(KEY)}, "sort": [{"field": "resourceName"}]}
    assert (await reader("POST", "/v2/forms/search", body)).json["items"] == [
        {
            "resourceName": "ask.form",
            "version": 1,
            "versionTag": "v1",
            "formId": "ask",
            "tenantId": "<default>",
            "formKey": str(FORM),
        }
    ]
    assert (await reader("POST", "/v2/resources/search")).json["items"] == []
    for end in ("", "/content", "/content/binary"):
        assert (await reader("GET", f"/v2/resources/{FORM}{end}")).status == 404


@pytest.mark.parametrize("path", ["forms/5", "user-tasks/5/form"])
@pytest.mark.harmless
async def test_what_is_not_there_is_404(rows, reader, path):
    assert (await reader("GET", f"/v2/{path}")).problem["title"] == "NOT_FOUND"


class Granted:
    """Has these permissions on resources."""

    def __init__(self, *permissions, id="*") -> None:
        self.caller = Caller("USER", "ann", rights((), [Grant("RESOURCE", id, permissions)]))

    async def authenticate(self, headers, address):
        return self.caller


@pytest.mark.parametrize(
    ("access", "deleted"),
    [
        (Granted("DELETE_FORM"), {FORM}),
        (Granted("DELETE_PROCESS"), {KEY}),
        (Granted("DELETE_FORM", "DELETE_PROCESS"), {FORM, KEY}),
        (Granted("DELETE_FORM", id="ask"), {FORM}),
        (Granted("DELETE_FORM", id="order"), set()),
        (Granted("DELETE_PROCESS", id="ask"), set()),
        (Granted("READ"), set()),
    ],
    ids=["forms", "processes", "both", "this form", "another form", "a process of that name", "none"],
)
async def test_the_permission_to_delete_depends_on_what_it_is(forms, stored, engine, access, deleted):
    forms.definition()
    forms.form()
    client = Client(api_app.build(changed(stored, access=access)))
    answers = {key: await client("POST", f"/v2/resources/{key}/deletion") for key in (FORM, KEY)}
    assert {key for key, answer in answers.items() if answer.status == 200} == deleted
    assert {key for key, answer in answers.items() if answer.status == 403} == {FORM, KEY} - deleted
    assert {item.command for item in engine.appended} == {DeleteResource(key) for key in deleted}
