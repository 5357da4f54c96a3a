"""Generic resources over HTTP: searches, downloads that no browser shows, and who may delete them."""

import pytest

from tests.api.changed_services import changed
from tests.api.conftest import Client
from tests.api.official import decode
from tests.api.routes.test_forms import Granted
from tests.api.rows import KEY
from vivero.api import app as api_app
from vivero.core.records.catalogue import DeleteResource

ROBOT, NOTE = KEY + 22, KEY + 23
SCRIPT, PAGE = b'{"id": "robot"}', b"<script>alert(1)</script>"


@pytest.fixture
def files(rows):
    """A script of robots, and a page that somebody deployed."""
    for digest, content in (("ee", SCRIPT), ("ab", PAGE)):
        rows.execute("INSERT INTO resources (sha256, bytes) VALUES (%s, %s)", [digest, content])
    rows.generic_resource(version_tag="v1")
    rows.generic_resource(NOTE, resource_id="a.html", resource_name='a\\b/é".html', sha256="ab", deployment_key=KEY + 5)
    return rows


async def test_a_resource_by_key_and_by_search(files, reader):
    found = (await reader("GET", f"/v2/resources/{ROBOT}")).json
    assert found == {
        "resourceName": "robots/robot.rpa",
        "version": 1,
        "versionTag": "v1",
        "resourceId": "robot",
        "tenantId": "<default>",
        "resourceKey": str(ROBOT),
    }
    assert decode("ResourceResult", found).additional_properties == {}
    body = {"filter": {"resourceId": {"$like": "r*"}, "deploymentKey": str(KEY)}, "sort": [{"field": "resourceName"}]}
    assert (await reader("POST", "/v2/resources/search", body)).json["items"] == [found]
    assert len((await reader("POST", "/v2/resources/search")).json["items"]) == 2


@pytest.mark.parametrize(
    ("path", "content", "type", "name"),
    [
        (f"{ROBOT}/content", SCRIPT, b"application/json", b'filename="robot.rpa"'),
        (f"{ROBOT}/content/binary", SCRIPT, b"application/octet-stream", b'filename="robot.rpa"'),
        (
            f"{NOTE}/content/binary",
            PAGE,
            b"application/octet-stream",
            b"filename=\"__.html\"; filename*=UTF-8''%C3%A9%22",
        ),
    ],
)
async def test_a_file_is_saved_and_never_shown(files, reader, path, content, type, name):
    answer = await reader("GET", f"/v2/resources/{path}")
    assert (answer.body, answer.headers[b"content-type"]) == (content, type)
    assert answer.headers[b"content-disposition"].startswith(b"attachment; " + name)
    assert answer.headers[b"x-content-type-options"] == b"nosniff"
    assert b"sandbox" in answer.headers[b"content-security-policy"]


async def test_only_scripts_of_robots_are_json(files, reader):
    problem = (await reader("GET", f"/v2/resources/{NOTE}/content")).problem
    assert (problem["status"], f"/v2/resources/{NOTE}/content/binary" in problem["detail"]) == (406, True)


@pytest.mark.parametrize("end", ["", "/content", "/content/binary"])
async def test_what_is_deleted_or_something_else_is_404(files, reader, end):
    files.definition()
    files.execute("UPDATE generic_resources SET state = 'DELETED'")
    for key in (ROBOT, KEY, 5):
        problem = (await reader("GET", f"/v2/resources/{key}{end}")).problem
        assert (problem["status"], problem["detail"]) == (404, f"Resource with key '{key}' not found")


@pytest.mark.parametrize(
    ("access", "allowed"),
    [
        (Granted("DELETE_RESOURCE"), True),
        (Granted("DELETE_RESOURCE", id="robot"), True),
        (Granted("DELETE_RESOURCE", id="other"), False),
        (Granted("DELETE_PROCESS", "DELETE_FORM", "DELETE_DRD"), False),
    ],
    ids=["all", "this one", "another one", "everything else"],
)
async def test_the_permission_to_delete_a_resource_is_its_own(files, stored, engine, access, allowed):
    client = Client(api_app.build(changed(stored, access=access)))
    answer = await client("POST", f"/v2/resources/{ROBOT}/deletion")
    assert answer.status == (200 if allowed else 403)
    assert [item.command for item in engine.appended] == [DeleteResource(ROBOT)] * allowed
