"""Credentials of webhooks: one that is not a non-empty text refuses every call. Issuers and audiences of tokens."""

import hmac
import json
import time
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from tests.engine.connectors.webhook_models import starting
from vivero.core.bpmn.parser import parse
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.http.authentication import basic
from vivero.engine.connectors.inbound import webhooks
from vivero.engine.connectors.inbound.webhook_access import NotAuthenticated, check_content, check_raw
from vivero.engine.connectors.inbound.webhooks import Webhook
from vivero.engine.connectors.work.secrets import UnknownSecret, UsedSecrets

SECRETS = {"EMPTY": "", "KEY": "k"}
KEY = ec.generate_private_key(ec.SECP256R1())
PUBLIC = jwt.PyJWK({**json.loads(jwt.algorithms.ECAlgorithm.to_jwk(KEY.public_key())), "alg": "ES256"})
NO_TEXTS = ("=null", "=1", "=[]", '=""', "=true", "=missing", '="{{secrets.EMPTY}}"', "{{secrets.EMPTY}}", '={a: "b"}')


def webhook(**properties):
    return Webhook("e", None, {f"inbound.{name.replace('__', '.')}": value for name, value in properties.items()})


def basic_webhook(**more):
    return webhook(**{"auth__type": "BASIC", "auth__username": "u", "auth__password": "p"} | more)


def signed(secret):
    return webhook(shouldValidateHmac="enabled", hmacSecret=secret, hmacHeader="X-Signature", hmacAlgorithm="sha_256")


def token_webhook(**more):
    more = {f"auth__jwt__{name}": value for name, value in more.items()}
    return webhook(**{"auth__type": "JWT", "auth__jwt__jwkUrl": "https://keys"} | more)


def guesses(given):
    """The texts that a value could have become."""
    return {"", "None", "null", "true", "True", "1", "[]", given, given.removeprefix("=").strip('"')}


@pytest.mark.parametrize("given", NO_TEXTS)
def test_a_password_that_is_not_a_text_lets_nobody_in(given):
    for wrong in (basic_webhook(auth__password=given), basic_webhook(auth__username=given)):
        for guess in guesses(given):
            for header in (basic("u", guess), basic(guess, "p")):
                with pytest.raises(ConnectorError, match=r"inbound\.auth"):
                    check_raw(wrong, {"authorization": header}, b"", UsedSecrets(SECRETS))


@pytest.mark.parametrize("given", NO_TEXTS)
def test_a_key_of_signatures_that_is_not_a_text_lets_nobody_in(given):
    for guess in guesses(given):
        header = {"x-signature": hmac.digest(guess.encode(), b"body", "sha256").hex()}
        with pytest.raises(ConnectorError, match=r"inbound\.hmacSecret"):
            check_raw(signed(given), header, b"body", UsedSecrets(SECRETS))


async def no_key(url, id):
    raise AssertionError("no token was to be checked")


async def the_key(url, id):
    return PUBLIC


@pytest.mark.parametrize("given", NO_TEXTS)
async def test_an_api_key_that_is_not_a_text_lets_nobody_in(given):
    keyed = webhook(auth__type="APIKEY", auth__apiKey=given, auth__apiKeyLocator="=headers.k")
    for guess in guesses(given):
        with pytest.raises(ConnectorError, match=r"inbound\.auth\.apiKey"):
            await check_content(keyed, {}, {"headers": {"k": guess}}, UsedSecrets(SECRETS), no_key)


async def test_a_credential_that_is_a_text_lets_in_who_knows_it():
    check_raw(basic_webhook(auth__password='="{{secrets.KEY}}" + "y"'), {"authorization": basic("u", "ky")}, b"",
              UsedSecrets(SECRETS))  # fmt: skip
    keyed = webhook(auth__type="APIKEY", auth__apiKey="null", auth__apiKeyLocator="=headers.k")
    await check_content(keyed, {}, {"headers": {"k": "null"}}, UsedSecrets(SECRETS), no_key)
    for wrong in ({"k": None}, {"k": ["null"]}, {}):
        with pytest.raises(NotAuthenticated):
            await check_content(keyed, {}, {"headers": wrong}, UsedSecrets(SECRETS), no_key)
    with pytest.raises(UnknownSecret):
        check_raw(basic_webhook(auth__password="{{secrets.NO}}"), {}, b"", UsedSecrets(SECRETS))


async def check_token(hook, **claims):
    token = jwt.encode({"exp": time.time() + 600, **claims}, KEY, "ES256")
    await check_content(hook, {"authorization": f"Bearer {token}"}, {}, UsedSecrets(SECRETS), the_key)


@pytest.mark.parametrize("required", ["=null", "=1", '=""', "=[null]", '=["a", ""]', "=[[]]", "=missing", '={a: "b"}'])
async def test_required_roles_that_are_no_texts_let_no_token_in(required):
    hook = token_webhook(requiredPermissions=required, permissionsExpression="=roles")
    for roles in ([], [None], ["a", ""], [[]], None):
        with pytest.raises(ConnectorError, match="requiredPermissions"):
            await check_token(hook, roles=roles)


async def test_roles_issuer_and_audience_of_a_token():
    hook = token_webhook(
        requiredPermissions='=["a"]', permissionsExpression="=roles", issuer="https://me", audience='=["x", "y"]'
    )
    right: dict[str, Any] = {"roles": ["a", "b"], "iss": "https://me", "aud": "y"}
    await check_token(hook, **right)
    await check_token(hook, **right | {"aud": ["z", "x"]})
    wrong: list[dict[str, Any]] = [{"roles": []}, {"roles": "a"}, {"iss": "https://other"}, {"aud": "z"}, {"aud": []}]
    for claims in [
        *({**right, **each} for each in wrong),
        *({k: v for k, v in right.items() if k != name} for name in right),
    ]:
        with pytest.raises(NotAuthenticated):
            await check_token(hook, **claims)
    await check_token(token_webhook(), iss="https://other", aud="z")
    for name in ("issuer", "audience"):
        with pytest.raises(ConnectorError, match=name):
            await check_token(token_webhook(**{name: "=null"}))


def deployed(**properties):
    properties = {f"inbound__{name}": value for name, value in properties.items()}
    [process] = parse(starting(**properties), "m.bpmn").processes
    return process


TOKENS = {"auth__type": "JWT", "auth__jwt__jwkUrl": "https://keys"}


@pytest.mark.parametrize(
    ("properties", "problem"),
    [
        ({"auth__type": "BASIC", "auth__username": "u", "auth__password": "=null"}, "auth.password must give a text"),
        ({"auth__type": "APIKEY", "auth__apiKey": "=1 + 1", "auth__apiKeyLocator": "=body.k"}, "apiKey must give"),
        ({"shouldValidateHmac": "enabled", "hmacSecret": "=", "hmacHeader": "h", "hmacAlgorithm": "sha_1"}, None),
        ({"shouldValidateHmac": "enabled", "hmacSecret": '=""', "hmacHeader": "h", "hmacAlgorithm": "sha_1"},
         "hmacSecret must"),
        ({**TOKENS, "auth__jwt__requiredPermissions": "=null", "auth__jwt__permissionsExpression": "=r"},
         "requiredPermissions must give"),
        ({**TOKENS, "auth__jwt__requiredPermissions": '=["a"]'}, "needs inbound.auth.jwt.permissionsExpression"),
        ({**TOKENS, "auth__jwt__audience": "=[1]"}, "audience must give"),
    ],
)  # fmt: skip
def test_a_deployment_names_credentials_that_refuse_every_call(properties, problem):
    found = list(webhooks.problems("m.bpmn", deployed(**properties)))
    assert (problem in found[0]) if problem else (found == [])


def test_a_deployment_is_warned_of_secrets_that_are_not_there_and_of_tokens_for_others():
    process = deployed(auth__type="BASIC", auth__username="{{secrets.KEY}}", auth__password='="{{secrets.EMPTY}}"')
    [warning] = webhooks.warnings("m.bpmn", process, lambda name: bool(SECRETS.get(name)))
    assert "'EMPTY'" in warning
    assert list(webhooks.warnings("m.bpmn", process)) == []
    [warning] = webhooks.warnings("m.bpmn", deployed(**TOKENS, auth__jwt__issuer="https://me"))
    assert "without inbound.auth.jwt.audience" in warning
    assert list(webhooks.warnings("m.bpmn", deployed(**TOKENS, auth__jwt__issuer="i", auth__jwt__audience="a"))) == []


@pytest.mark.parametrize("name", webhooks.JUDGES)
def test_what_decides_about_a_call_cannot_name_a_secret(name):
    """It would compare the reference, so that who writes it would be let in."""
    [process] = parse(starting(**{name.replace(".", "__"): '=body.token = "{{secrets.KEY}}"'}), "m.bpmn").processes
    [problem] = webhooks.problems("m.bpmn", process)
    assert f"the property {name} names a secret" in problem
    assert list(webhooks.webhooks_of(process)) == []


def test_a_deployment_is_warned_of_references_that_stay():
    [warning] = webhooks.warnings("m.bpmn", deployed(responseBodyExpression='="{{secrets.KEY}}"'), bool)
    assert "the property inbound.responseBodyExpression names a secret" in warning
