"""Expressions over what other systems send: quick ones here, others in a compute process."""

import json
import pickle

import pytest

from vivero.engine.compute.problems import TooCostly
from vivero.engine.connectors.errors import ConnectorError
from vivero.engine.connectors.inbound.elements import InboundElement
from vivero.engine.connectors.inbound.evaluation import accepts, evaluated, values_of
from vivero.engine.connectors.inbound.webhook_answers import located_key, response, verification
from vivero.engine.connectors.inbound.webhooks import Webhook

MANY = "=count(for n in items return n * n)"
EVENT = {"items": list(range(20_000))}


class Pool:
    """Compute processes that do what they are sent, as far as it can be sent."""

    def __init__(self, error=None) -> None:
        self.done, self._error = 0, error

    async def call(self, _, work, *arguments):
        if self._error is not None:
            raise self._error
        self.done += 1
        work, arguments = pickle.loads(pickle.dumps((work, arguments)))
        return pickle.loads(pickle.dumps(work(*arguments)))


def element(kind=InboundElement, **properties):
    return kind("catch", "came", {name.replace("_", "."): text for name, text in properties.items()})


async def test_quick_expressions_need_no_process():
    pool = Pool()
    assert await evaluated(pool, accepts, element(activationCondition="=count(items) > 3"), EVENT)
    assert pool.done == 0


@pytest.mark.parametrize("pools", [True, False])
async def test_other_expressions_give_the_same_in_a_process(pools):
    pool = Pool() if pools else None
    catch = element(
        activationCondition=f"{MANY} > 3",
        resultVariable="event",
        resultExpression="={n: count(for n in items return n * n)}",
        messageIdExpression=MANY,
        correlationKeyExpression="=string(items[3])",
    )
    assert await evaluated(pool, accepts, catch, EVENT)
    made = await evaluated(pool, values_of, catch, EVENT, EVENT)
    assert (made.message_id, made.correlation_key) == ("20000", "2")
    assert {name: json.loads(bytes(text)) for name, text in made.variables.items()} == {"event": EVENT, "n": 20_000}
    assert pool is None or pool.done == 2


async def test_a_webhook_finds_its_key_and_answers_in_a_process():
    pool = Pool()
    hook = element(
        Webhook,
        inbound_auth_apiKeyLocator=f"=string({MANY[1:]})",
        inbound_verificationExpression=f'={{statusCode: 202, headers: {{"X-N": string({MANY[1:]})}}}}',
        inbound_responseBodyExpression=f"={{n: {MANY[1:]}}}",
    )
    assert await evaluated(pool, located_key, hook, EVENT) == "20000"
    verified = await evaluated(pool, verification, hook, EVENT)
    assert (verified.status, verified.content, verified.headers) == (202, b"", ((b"x-n", b"20000"),))
    answer = await evaluated(pool, response, hook, EVENT)
    assert (answer.content, answer.headers) == (b'{"n":20000}', ((b"content-type", b"application/json"),))
    assert pool.done == 3


async def test_a_fault_in_a_process_is_that_of_the_property():
    fails = element(activationCondition=f'={MANY[1:]} > 3 and assert(items, false, "no") = 1')
    with pytest.raises(ConnectorError, match="the property activationCondition fails") as seen:
        await evaluated(Pool(), accepts, fails, EVENT)
    assert seen.value.code == "INBOUND"


async def test_an_expression_that_takes_too_much_is_an_error_of_the_event():
    with pytest.raises(ConnectorError, match="TOO_COSTLY: the expressions of the element take 5 s"):
        await evaluated(Pool(TooCostly("5 s")), accepts, element(activationCondition=f"{MANY} > 3"), EVENT)
