"""Parameters of background jobs: what `defer` checks, and what a function gets of its payload."""

from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from vivero.engine.jobs.handlers import call
from vivero.engine.jobs.parameters import BadPayload
from vivero.jobs import Execution, consumer, job, scheduled
from vivero.storage.background.job_executions import Run

AT = datetime(2030, 1, 1, tzinfo=UTC)


@dataclass
class Address:
    city: str


@job("send-invoice")
async def send_invoice(execution, invoice: str, amount: Decimal = Decimal(0), to: Address | None = None, *, copies=1):
    SEEN.append((execution.attempt, invoice, amount, to, copies))


@job("plain")
def plain(execution):
    SEEN.append(execution.payload)


SEEN = []


class Calls:
    """As a queue of `vivero.transaction`: it keeps what it is told."""

    def defer(self, job_type, payload, *, at, unique_key, allow_unknown):
        self.told = job_type, payload, at, unique_key, allow_unknown
        return 7


def execution_with(payload):
    return Execution(Run("id", "t", 0, payload, None, None, "lease", 0, 0, 0))


@pytest.fixture
def calls():
    SEEN.clear()
    return Calls()


def test_a_job_is_deferred_with_its_fields_as_json(calls):
    fields = {"invoice": "a1", "amount": Decimal("1.20"), "to": Address("Cali")}
    assert send_invoice.defer(calls, at=AT, unique_key="k", **fields) == 7
    payload = {"invoice": "a1", "amount": "1.20", "to": {"city": "Cali"}}
    assert calls.told == ("send-invoice", payload, AT, "k", False)
    plain.defer(calls, allow_unknown=True)
    assert calls.told == ("plain", None, None, None, True)
    plain.defer(calls, whatever=[1])
    assert calls.told[1] == {"whatever": [1]}


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({}, "missing required field `invoice`"),
        ({"invoice": 5}, r"Expected `str`, got `int` - at `\$.invoice`"),
        ({"invoice": "a", "to": {"town": "x"}}, r"missing required field `city` - at `\$.to`"),
        ({"invoice": "a", "amuont": 5}, "no parameter 'amuont': did you mean 'amount'"),
    ],
)
def test_fields_that_do_not_fit_are_refused_by_name(calls, fields, why):
    with pytest.raises(BadPayload, match=why):
        send_invoice.defer(calls, **fields)
    assert not hasattr(calls, "told")


async def test_a_function_gets_its_parameters_with_their_types(calls):
    payload = '{"invoice": "a1", "amount": "1.20", "to": {"city": "Cali"}, "of_a_later_version": 1}'
    await call(send_invoice, execution_with(payload), set())
    await call(send_invoice, execution_with('{"invoice": "b", "copies": "two"}'), set())
    await call(plain, execution_with('{"x": 1}'), set())
    assert [
        (0, "a1", Decimal("1.20"), Address("Cali"), 1),
        (0, "b", Decimal(0), None, "two"),
        {"x": 1},
    ] == SEEN
    with pytest.raises(BadPayload, match="missing required field `invoice`"):
        await call(send_invoice, execution_with(None), set())


def test_parameters_that_no_payload_can_give_are_refused_where_they_stand():
    for function, why in (
        (lambda execution, *rest: None, "name each field"),
        (lambda execution, **rest: None, "name each field"),
        (lambda execution, at: None, "`defer` has that name"),
        (lambda: None, "must take the execution"),
        (lambda **rest: None, "must take the execution as its first parameter, by position"),
        (lambda *, execution: None, "must take the execution as its first parameter, by position"),
    ):
        with pytest.raises(ValueError, match=why):
            job("x")(function)
    for decorator in (scheduled("x", every="PT1H"), consumer("x")):
        with pytest.raises(ValueError, match="take the execution alone"):
            decorator(lambda execution, y: None)


async def test_a_decorated_function_may_take_its_execution_among_any_arguments(calls):
    def any_arguments(*arguments, invoice: str):
        SEEN.append((len(arguments), invoice))

    await call(job("x")(any_arguments), execution_with('{"invoice": "a1"}'), set())
    assert SEEN == [(1, "a1")]


@pytest.mark.parametrize(
    ("define", "why"),
    [(scheduled("report", every="PT1H"), "has a schedule"), (consumer("mirror"), "follows events")],
)
def test_what_runs_by_itself_cannot_be_deferred(define, why):
    @define
    async def by_itself(execution): ...

    calls = Calls()
    with pytest.raises(TypeError, match=why):
        by_itself.defer(calls)
