"""Files in calls of webhooks: documents of the process, which stay if the call has an effect."""

import hashlib
import hmac

import pytest

from tests.engine.connectors.programs import deploy, program
from tests.engine.connectors.test_webhooks import SIGNED, count, variables
from tests.engine.connectors.webhook_models import by_message, pending, starting, waiting
from tests.eventually import eventually
from vivero.api.settings import ApiSettings
from vivero.config.sections import Config
from vivero.engine.documents.settings import DocumentSettings
from vivero.storage.documents import documents
from vivero.storage.state import message_channels

PAGE = b"<script>alert(1)</script>"
SEEN = {
    "resultVariable": "call",
    "resultExpression": "={names: for d in documents return d.metadata.fileName, note: body.note}",
    "inbound__responseExpression": "={body: {key: correlation.processInstanceKey, first: documents[1].documentId}}",
}


def files(*named):
    return [("scans", (name, content, "text/html")) for name, content in named]


async def stored(connection):
    return (
        await connection.execute(
            "SELECT (SELECT count(*) FROM documents), (SELECT count(*) FROM document_contents WHERE sha256 IS NOT NULL)"
        )
    ).rows[0]


async def test_the_files_of_a_form_become_documents_of_the_process(migrated, connection):
    async with program(migrated) as (client, _, _):
        assert (await deploy(client, starting(**SEEN))).status_code == 200
        answer = await client.post(
            "/inbound/hook",
            data={"note": "x"},
            files=files(("../a.html", PAGE), ("C:\\b.html", b""), ("a.html", PAGE)),
        )
        assert answer.status_code == 200, answer.text
        made = await variables(client, processInstanceKey=answer.json()["key"])
        assert (made["names"], made["note"]) == (["a.html", "b.html", "a.html"], "x")
        assert made["call"]["request"]["body"] == {"note": "x"}
        first = made["call"]["documents"][0]
        assert (first["documentId"], first["storeId"]) == (answer.json()["first"], "postgres")
        assert first["camunda.document.type"] == "camunda"
        assert first["contentHash"] == hashlib.sha256(PAGE).hexdigest()
        assert (first["metadata"]["processDefinitionId"], first["metadata"]["size"]) == ("p", len(PAGE))
        found = await client.get(f"/v2/documents/{first['documentId']}")
        assert (found.content, found.headers["content-type"]) == (PAGE, "text/html")
        assert found.headers["content-disposition"].startswith("attachment")
        assert await stored(connection) == (3, 2)
        of = (await connection.execute("SELECT DISTINCT process_instance_key FROM documents")).rows
        assert of == [(int(answer.json()["key"]),)], "they go with the instance"

        plain = await client.post("/inbound/hook", files={"note": (None, "only a text")})
        made = await variables(client, processInstanceKey=plain.json()["key"])
        assert (made["names"], made["note"]) == ([], "only a text")


@pytest.mark.long
async def test_a_call_without_an_effect_leaves_no_document(migrated, connection, monkeypatch):
    monkeypatch.setenv("VIVERO_SECRET_HOOK", "canary")
    unmet = starting("unmet", "unmet", activationCondition='=body.note = "yes"')
    verified = starting("verified", "verified", inbound__verificationExpression='={body: "no"}')
    broken = starting("broken", "broken", resultExpression="=documents[1].documentId")
    signed = starting("signed", "signed", **SIGNED)
    once = starting("once", "once", messageIdExpression="=body.note")
    message = by_message("message", "message", messageIdExpression="=body.note")
    async with program(migrated) as (client, _, _):
        assert (await deploy(client, unmet, verified, broken, signed, once, message)).status_code == 200

        async def call(path, *named, **headers):
            answer = await client.post(
                f"/inbound/{path}", data={"note": "n"}, files=files(*(named or [("a", b"1")])), headers=headers
            )
            return answer.status_code

        assert await call("unmet") == 422
        assert await call("verified") == 200
        assert await call("broken") == 422
        assert await call("signed", **{"X-Hub-Signature-256": "sha256=00"}) == 401
        assert await call("once", ("\u202egpj.exe", b"1")) == 400
        assert await stored(connection) == (0, 0)
        request = client.build_request("POST", "/inbound/signed", files=files(("a", b"1")))
        signature = hmac.new(b"canary", request.read(), "sha256").hexdigest()
        request.headers["X-Hub-Signature-256"] = f"sha256={signature}"
        assert (await client.send(request)).status_code == 200
        assert await stored(connection) == (1, 1)
        for path in ("once", "message"):
            before = (await stored(connection))[0]
            assert [await call(path) for _ in range(3)] == [200, 200, 200]
            assert (await stored(connection))[0] == before + 1, "those of the first call"
        assert await count(client, processDefinitionId="once") == 1


async def test_files_go_with_a_message_that_nobody_got_and_stay_with_their_receiver(migrated, connection):
    hook = waiting(correlationKeyExpression="=body.order", resultExpression="={scan: documents[1]}")
    now = waiting("now", "q", correlationKeyExpression="=body.order", messageTtl="PT0S")
    async with program(migrated) as (client, _, _):
        assert (await deploy(client, hook, now)).status_code == 200
        answer = await client.post("/inbound/now", data={"order": "other"}, files=files(("at once", b"0")))
        assert (answer.status_code, await stored(connection)) == (200, (0, 0)), "nobody waited, and it is not stored"
        created = {"processDefinitionId": "p", "variables": {"order": "got"}}
        assert (await client.post("/v2/process-instances", json=created)).status_code == 200
        for order, content in (("lost", b"1"), ("got", b"2"), ("lost", b"2")):
            answer = await client.post("/inbound/hook", data={"order": order}, files=files((order, content)))
            assert answer.status_code == 200, answer.text
        await eventually(lambda: variables(client, name="scan"), accept=len)
        assert await stored(connection) == (3, 2)
        await connection.execute("UPDATE messages SET deadline_ms = 1")
        epoch = (await connection.execute("SELECT epoch FROM partitions WHERE id = 1")).rows[0][0]
        await message_channels.expire(connection, 1, epoch, 10)
        await documents.expire(connection, 10)
        assert (await connection.execute("SELECT file_name FROM documents")).rows == [("got",)]
        assert await stored(connection) == (1, 1)


@pytest.mark.parametrize("ttl", ["PT0S", "PT1H"])
async def test_files_go_with_a_pending_start_that_begins_no_instance(migrated, connection, ttl):
    async with program(migrated) as (client, _, _):
        assert (await deploy(client, pending(messageTtl=ttl))).status_code == 200
        for path, order in (("hook", "lost"), ("hook", "begun"), ("hook2", "begun")):
            answer = await client.post(f"/inbound/{path}", data={"order": order}, files=files((f"{order} {path}", b"")))
            assert answer.status_code == 200, answer.text
        await eventually(lambda: count(client, processDefinitionId="p"), accept=lambda found: found == 1)
        epoch = (await connection.execute("SELECT epoch FROM partitions WHERE id = 1")).rows[0][0]
        for rows in ("messages SET deadline_ms = 1", "start_locks SET deadline_ms = 1 WHERE kept IS NOT NULL"):
            assert (await stored(connection))[0] == 3, "a pending start still has the first one"
            await connection.execute(f"UPDATE {rows}")
            await message_channels.expire(connection, 1, epoch, 10)
            await documents.expire(connection, 10)
        names = (await connection.execute("SELECT file_name FROM documents ORDER BY 1")).rows
        assert names == [("begun hook",), ("begun hook2",)]


async def test_files_that_another_process_got_stay_when_the_pending_start_ends(migrated, connection):
    async with program(migrated) as (client, _, _):
        assert (await deploy(client, pending(messageTtl="P40D"))).status_code == 200
        for order in ("alone", "shared"):
            answer = await client.post("/inbound/hook", data={"order": order}, files=files((order, b"")))
            assert answer.status_code == 200, answer.text
        given = "given || CASE correlation_key WHEN 'shared' THEN '{other}'::text[] ELSE '{}' END"
        await connection.execute(f"UPDATE messages SET deadline_ms = 1, given = {given}")
        await connection.execute("UPDATE start_locks SET deadline_ms = 1")
        epoch = (await connection.execute("SELECT epoch FROM partitions WHERE id = 1")).rows[0][0]
        assert await message_channels.expire(connection, 1, epoch, 10) == 2
        await documents.expire(connection, 10)
        assert (await connection.execute("SELECT file_name FROM documents")).rows == [("shared",)]


async def test_forms_that_are_too_large_or_broken_are_refused(migrated, connection):
    most = DocumentSettings(max_bytes=1_000)
    async with program(migrated, others=({"roles": Config().roles, "documents": most},)) as (client, _, _):
        assert (await deploy(client, starting())).status_code == 200
        many = await client.post("/inbound/hook", files=files(*((f"{n}", b"") for n in range(most.max_files + 1))))
        assert (many.status_code, "more than 20 files (documents.max_files)" in many.text) == (400, True)
        large = await client.post("/inbound/hook", files=files(("a", b"1"), ("b", bytes(most.max_bytes + 1))))
        assert (large.status_code, "The file in part [scans]" in large.text) == (413, True)
        whole = await client.post("/inbound/hook", files=files(("a", bytes(ApiSettings().max_body_bytes))))
        assert (whole.status_code, "The request body is larger than" in whole.text) == (413, True)
        for boundary in ("", "; boundary=x"):
            headers = {"Content-Type": f"multipart/form-data{boundary}"}
            assert (await client.post("/inbound/hook", content=b"--x\r\n", headers=headers)).status_code == 400
        form = ("Content-Type", "multipart/form-data; boundary=x")
        two = [form, ("Content-Type", "application/json")]
        assert (await client.post("/inbound/hook", content=b"{}", headers=two)).status_code == 400, "of two types"
        assert await stored(connection) == (0, 0)
        assert await count(client) == 0
