"""Webhooks in whole programs: they start and continue instances; who may call; deployments, deletions, nodes."""

import base64
import hashlib
import hmac
import json
import time

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.engine.connectors.programs import connectors_of, deploy, program
from tests.engine.connectors.webhook_models import by_message, properties, starting, waiting
from tests.engine.whole_engine import WholeEngine
from vivero.core.bpmn.parser import parse
from vivero.engine.connectors.inbound import webhooks
from vivero.engine.connectors.inbound.webhook_registry import WebhookRegistry
from vivero.storage.postgres.pool import Pool


async def variables(client, **filter):
    found = (await client.post("/v2/variables/search", json={"filter": filter})).json()["items"]
    return {each["name"]: json.loads(each["value"]) for each in found}


async def count(client, **filter):
    return (await client.post("/v2/process-instances/search", json={"filter": filter})).json()["page"]["totalItems"]


async def test_a_call_starts_a_process_and_answers_as_the_model_says(migrated):
    model = starting(
        inbound__method="post",
        resultVariable="call",
        resultExpression="={id: request.body.id, q: params.q, text: body.text, part: headers.`x-part`}",
        inbound__responseExpression=(
            '={statusCode: 201, headers: {"X-Id": string(body.id), "Set-Cookie": "a=b"},'
            " body: {key: correlation.processInstanceKey}}"
        ),
    )
    async with program(migrated) as (client, _, _):
        assert (await deploy(client, model)).status_code == 200
        headers = [("Authorization", "Bearer canary"), ("X-Part", "one"), ("X-Part", "two"), ("If-Match", '"7"')]
        answer = await client.post("/inbound/hook?q=x&dryRun=yes&q=y", json={"id": 7.5}, headers=headers)
        assert (answer.status_code, answer.headers["x-id"]) == (201, "7.5")
        assert answer.headers["content-security-policy"].endswith("sandbox")
        assert "set-cookie" not in answer.headers
        stored = await variables(client, processInstanceKey=answer.json()["key"])
        assert (stored["id"], stored["q"], stored["part"]) == (7.5, "x", "one")
        assert stored["call"]["request"]["body"] == {"id": 7.5}
        assert "canary" not in str(stored)
        assert (await client.get("/inbound/hook")).status_code == 405
        assert (await client.post("/inbound/other")).status_code == 404
        assert (
            await client.post("/inbound/hook", content=b"{", headers={"Content-Type": "application/json"})
        ).status_code == 400
        for type, content in (
            ("application/json", b"\xef\xbb\xbf" + '{"text": "ü"}'.encode()),
            ("application/json; charset=iso-8859-1", '{"text": "ü"}'.encode("latin-1")),
            ("application/json", '{"text": "ü"}'.encode("utf-16")),
            ("application/x-www-form-urlencoded; charset=utf-8", "text=ü".encode()),
            ("application/x-www-form-urlencoded; charset=iso-8859-1", "text=ü".encode("latin-1")),
            ("application/x-www-form-urlencoded; charset=iso-8859-1", b"text=%FC"),
        ):
            told = await client.post("/inbound/hook", content=content, headers={"Content-Type": type})
            assert (await variables(client, processInstanceKey=told.json()["key"]))["text"] == "ü"
        form = await client.post("/inbound/hook", data={"id": "a b"})
        assert (await variables(client, processInstanceKey=form.json()["key"]))["id"] == "a b"


async def test_repeated_calls_start_one_instance(migrated):
    models = [
        starting(
            "one",
            "one",
            messageIdExpression='=get value(headers, "x-id")',
            inbound__responseBodyExpression="=correlation",
        ),
        by_message("two", "two", messageIdExpression="=body.id", inbound__responseBodyExpression="=correlation"),
    ]
    async with program(migrated) as (client, _, _):
        assert (await deploy(client, *models)).status_code == 200
        first = [await client.post("/inbound/one", json={"n": n}, headers={"X-Id": "a"}) for n in range(3)]
        assert len({each.text for each in first}) == 1
        second = [await client.post("/inbound/two", json={"id": 5, "n": n}) for n in range(3)]
        assert [list(each.json()) for each in second] == [["messageKey", "tenantId"], [], []]
        assert (await client.post("/inbound/one", headers={"X-Id": "b"})).status_code == 200
        assert (await client.post("/inbound/one")).status_code == 422
        assert (await count(client, processDefinitionId="one"), await count(client, processDefinitionId="two")) == (
            2,
            1,
        )


async def test_a_call_continues_an_instance(migrated):
    async with program(migrated) as (client, _, _):
        await deploy(client, waiting(resultExpression="={paid: body.amount}", activationCondition="=body.amount > 0"))
        start = {"processDefinitionId": "p", "variables": {"order": "o1"}}
        created = (await client.post("/v2/process-instances", json=start)).json()
        assert (await client.post("/inbound/hook", json={"order": "o1", "amount": 0})).status_code == 422
        assert (await client.post("/inbound/hook", json={"order": "other", "amount": 1})).status_code == 200
        assert (await client.post("/inbound/hook", json={"order": "o1", "amount": 9})).status_code == 200
        assert (await variables(client, processInstanceKey=created["processInstanceKey"]))["paid"] == 9
        assert await count(client, state="COMPLETED") == 1


SIGNED = {
    "inbound__shouldValidateHmac": "enabled",
    "inbound__hmacSecret": "{{secrets.HOOK}}",
    "inbound__hmacHeader": "X-Hub-Signature-256",
    "inbound__hmacAlgorithm": "sha_256",
}


async def test_who_may_call(migrated, server, monkeypatch):
    monkeypatch.setenv("VIVERO_SECRET_HOOK", "canary-hook")
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    public = json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key())) | {"kid": "k", "use": "sig"}
    server.answer = lambda _: (200, {}, {"keys": [public]})
    roles = {
        "inbound__auth__jwt__permissionsExpression": "=roles",
        "inbound__auth__jwt__requiredPermissions": '=["admin"]',
    }
    models = [
        starting("signed", "signed", **SIGNED, resultVariable="r"),
        starting(
            "basic", "basic", inbound__auth__type="BASIC", inbound__auth__username="u",
            inbound__auth__password="{{secrets.HOOK}}",
        ),
        starting(
            "key", "key", inbound__auth__type="APIKEY", inbound__auth__apiKey="{{secrets.HOOK}}",
            inbound__auth__apiKeyLocator='=split(request.headers.authorization, " ")[2]', resultVariable="r",
        ),
        starting("jwt", "jwt", inbound__auth__type="JWT", inbound__auth__jwt__jwkUrl=server.url, **roles),
        starting(
            "none", "none", inbound__auth__type="BASIC", inbound__auth__username="u",
            inbound__auth__password="{{secrets.NO}}",
        ),
    ]  # fmt: skip
    body = b'{"a": 1}'
    digest = hmac.digest(b"canary-hook", body, "sha256")
    signature = "X-Hub-Signature-256"

    def token(algorithm="RS256", secret=key, kid="k", **claims):
        return jwt.encode(
            {"exp": time.time() + 60, "roles": ["admin"], **claims}, secret, algorithm, headers={"kid": kid}
        )

    def authorization(text):
        return {"Authorization": text}

    def basic(text):
        return authorization("Basic " + base64.b64encode(text).decode())

    calls = [
        ("signed", {signature: f"sha256={digest.hex()}"}, 200),
        ("signed", {signature: digest.hex().upper()}, 200),
        ("signed", {signature: base64.b64encode(digest).decode()}, 200),
        ("signed", {signature: hmac.digest(b"other", body, "sha256").hex()}, 401),
        ("signed", {signature: hashlib.sha256(body).hexdigest()}, 401),
        ("signed", {signature: ""}, 401),
        ("signed", {}, 401),
        ("basic", basic(b"u:canary-hook"), 200),
        ("basic", basic(b"u:wrong"), 401),
        ("basic", {}, 401),
        ("key", authorization("Bearer canary-hook"), 200),
        ("key", authorization("Bearer wrong"), 401),
        ("key", {}, 401),
        ("jwt", authorization(f"Bearer {token()}"), 200),
        ("jwt", authorization(f"Bearer {token(roles=['user'])}"), 401),
        ("jwt", authorization(f"Bearer {token(exp=time.time() - 60)}"), 401),
        ("jwt", authorization(f"Bearer {token(kid='other')}"), 401),
        ("jwt", authorization(f"Bearer {token('HS256', 'x' * 32)}"), 401),
        ("jwt", authorization("Bearer x.y.z"), 401),
        ("jwt", {}, 401),
        ("none", basic(b"u:x"), 422),
    ]
    async with program(migrated) as (client, _, _):
        assert (await deploy(client, *models)).status_code == 200
        answers = [
            (
                await client.post(
                    f"/inbound/{path}", content=body, headers={"Content-Type": "application/json", **headers}
                )
            )
            for path, headers, _ in calls
        ]
        assert [answer.status_code for answer in answers] == [status for _, _, status in calls]
        assert "canary-hook" not in "".join(answer.text for answer in answers)
        assert "canary-hook" not in str(await variables(client))
        assert await count(client) == sum(status == 200 for *_, status in calls)


async def test_a_notification_of_an_agent_continues_the_instance_that_has_its_token(migrated):
    of_agent = {"inbound__type": webhooks.AGENT_WEBHOOK, "correlationKeyExpression": "", "inbound__method": ""}
    model = waiting(**of_agent, resultExpression="={got: request.body}")
    by_id = waiting("other", "q", **of_agent | {"correlationKeyExpression": "=body.id"})
    file = {"kind": "file", "file": {"name": "r.txt", "mimeType": "text/plain", "bytes": "aGk="}}
    done = {"kind": "task", "id": "t", "status": {"state": "completed"}, "artifacts": [{"parts": [file]}]}
    token = {"X-A2A-Notification-Token": "s3cret"}
    async with program(migrated) as (client, _, _):
        assert (await deploy(client, model, by_id)).status_code == 200
        for process, order in (("p", "s3cret"), ("q", "t")):
            start = {"processDefinitionId": process, "variables": {"order": order}}
            await client.post("/v2/process-instances", json=start)
        calls = [
            ("hook", {}, done, 401),
            ("hook", {"X-A2A-Notification-Token": ""}, done, 401),
            ("hook", {"X-A2A-Notification-Token": "other"}, done, 200),
            ("hook", token, done | {"status": {"state": "working"}}, 200),
            ("hook", token, {"kind": "x"}, 422),
            ("other", token, done, 401),
        ]
        answers = [await client.post(f"/inbound/{path}", json=body, headers=given) for path, given, body, _ in calls]
        assert [answer.status_code for answer in answers] == [status for *_, status in calls]
        assert await count(client, state="COMPLETED") == 0
        assert (await client.post("/inbound/hook", json=done, headers=token)).status_code == 200
        assert await count(client, state="COMPLETED") == 1
        got = (await variables(client, name="got"))["got"]
        [content] = got["artifacts"][0]["contents"]
        [row] = [
            each for each in (await client.get("/inbound-connectors")).json()["items"] if each["elementId"] == "wait"
        ][:1]
        assert (got["status"], row["type"]) == ({"state": "completed"}, webhooks.AGENT_WEBHOOK)
        assert (await client.get(f"/v2/documents/{content['document']['documentId']}")).content == b"hi"


async def test_verification_comes_before_the_start(migrated):
    expression = "=if body.challenge != null then {body: {challenge: body.challenge}} else null"
    async with program(migrated) as (client, _, _):
        await deploy(client, starting(inbound__verificationExpression=expression, activationCondition="=false",
                                      consumeUnmatchedEvents="true"))  # fmt: skip
        assert (await client.post("/inbound/hook", json={"challenge": "c"})).json() == {"challenge": "c"}
        assert (await client.post("/inbound/hook", json={})).status_code == 200
        assert await count(client) == 0


async def test_a_path_belongs_to_one_process_and_to_its_latest_version(migrated):
    async with program(migrated, others=({},)) as (client, _, ports):
        other = f"http://127.0.0.1:{ports[1]}"
        assert (await client.post(f"{other}/inbound/hook")).status_code == 404
        first = await deploy(client, starting("hook", "p", resultExpression="={version: 1}"))
        refused = await deploy(client, starting("hook", "q"))
        assert (refused.status_code, "webhook path 'hook' of another process" in refused.text) == (400, True)
        twice = await deploy(client, starting("new", "n1"), starting("new", "n2"))
        assert (twice.status_code, "webhook path 'new' of another process" in twice.text) == (400, True)
        assert (await client.post("/inbound/hook")).status_code == 200
        second = await deploy(client, starting("hook", "p", resultExpression="={version: 2}"))
        assert (await client.post("/inbound/hook")).status_code == 200
        found = (await client.post("/v2/variables/search", json={"filter": {"name": "version"}})).json()["items"]
        assert sorted(each["value"] for each in found) == ["1", "2"]
        listed = (await client.get(f"{other}/webhooks")).json()["items"]
        assert [(each["path"], each["processDefinitionId"], each["state"]) for each in listed] == [
            ("hook", "p", "ACTIVE")
        ]
        for deployed in (first, second):
            key = deployed.json()["deployments"][0]["processDefinition"]["processDefinitionKey"]
            assert (await client.post(f"/v2/resources/{key}/deletion", json={})).status_code == 200
        assert (await client.get("/webhooks")).json()["items"] == []
        assert (await client.post("/inbound/hook")).status_code == 404


async def test_of_two_claims_of_a_path_the_older_one_has_it(migrated, connect):
    """Two deployments at the same moment pass the check of the API."""
    async with WholeEngine(migrated).running() as engine:
        [first] = await engine.deploy(starting("hook", "older"))
        await engine.deploy(starting("hook", "newer"))
        pool = Pool(lambda deadline: connect(deadline=deadline), 1)
        registry = WebhookRegistry(pool.connection, engine.definitions)
        found = await registry.find("hook")
        assert found is not None
        assert (found.process_id, found.definition_key) == ("older", first)
        assert [(claim.process_id, claim.conflict) for claim in await registry.all()] == [
            ("older", False),
            ("newer", True),
        ]
        assert await registry.taken("<default>", "newer", {"hook", "new"}) == {"hook"}
        assert await registry.taken("<default>", "older", {"hook"}) == set()
        pool.close()


async def test_calls_of_one_address_are_limited(migrated):
    async with program(migrated, inbound_burst=2, inbound_requests_per_s=0.001) as (client, _, _):
        await deploy(client, starting("one", "one"), starting("two", "two"))
        assert [(await client.post("/inbound/one")).status_code for _ in range(3)] == [200, 200, 429]
        assert (await client.post("/inbound/two")).status_code == 200


async def test_without_connectors_there_are_no_webhooks(migrated):
    async with program(migrated) as (client, trees, _):
        assert connectors_of(trees[0]).webhooks is not None
        answer = await deploy(client, starting(messageIdExpression="=", inbound__method="trace"))
        assert answer.status_code == 400
        assert "inbound.method must be one of" in answer.text


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        (starting("a/b"), "the path of the webhook"),
        (starting(""), "the path of the webhook"),
        (starting(inbound__method="patch"), "inbound.method"),
        (starting(resultExpression="=1 +"), "resultExpression is not a valid expression"),
        (starting(inbound__auth__type="OTHER"), "inbound.auth.type"),
        (starting(inbound__auth__type="APIKEY"), "inbound.auth.apiKey is missing"),
        (starting(inbound__shouldValidateHmac="enabled"), "inbound.hmacSecret is missing"),
        (starting(inbound__shouldValidateHmac="yes"), "enabled or disabled"),
        (starting(**SIGNED | {"inbound__hmacAlgorithm": "md5"}), "inbound.hmacAlgorithm"),
        (starting(**SIGNED, inbound__hmacScopes='=["URL"]'), "other scopes are not supported"),
        (by_message(messageTtl="soon"), "messageTtl"),
        (waiting(correlationKeyExpression=""), "needs correlationKeyExpression"),
        (
            starting("x").replace(b'<endEvent id="end"/>', f'<endEvent id="end">{properties("y")}</endEvent>'.encode()),
            "only none start events",
        ),
    ],
)
def test_problems(model, problem):
    parsed = parse(model, "m.bpmn")
    assert parsed.problems == ()
    found = list(webhooks.problems("m.bpmn", parsed.processes[0]))
    assert problem in found[0]
