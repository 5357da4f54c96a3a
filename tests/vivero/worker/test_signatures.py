"""Parameters of functions and their variables: types in and out, and the texts about those that do not fit."""

import enum
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Annotated, TypedDict
from uuid import UUID

import msgspec
import pydantic
import pytest

from tests.vivero.worker.stub_server import job
from vivero.client.values import encoded
from vivero.worker import BadFunction, Job, JobCompletion, JobFailed, Variable, Worker
from vivero.worker.signatures import returned_names, signature_of
from vivero.worker.values import completion_of


class Colour(enum.Enum):
    RED = "red"


@dataclass
class Item:
    sku: str
    price: Decimal


class Customer(msgspec.Struct, rename="camel"):
    full_name: str
    since: date | None = None


class Card(pydantic.BaseModel):
    number: str
    limit: Decimal = Decimal("0")


@dataclass
class Wallet:
    cards: list[Card]


def activated(json: str) -> Job:
    """A job whose variables are this JSON."""
    whole = msgspec.json.encode(job(1) | {"variables": msgspec.Raw(json.encode())})
    return msgspec.json.decode(whole, type=Job)


def argument(kind, json, **default):
    def function(value): ...

    function.__annotations__["value"] = kind
    if default:
        function.__defaults__ = (default["default"],)
    return signature_of(function).arguments(activated(json))["value"]


@pytest.mark.parametrize(
    ("kind", "json", "value"),
    [
        (int, "5", 5),
        (float, "5", 5.0),
        (int, "123456789012345678901234567890", 123456789012345678901234567890),
        (Decimal, "12345678901234567890.10", Decimal("12345678901234567890.10")),
        (Decimal, '"0.10"', Decimal("0.10")),
        (date, '"2026-11-28"', date(2026, 11, 28)),
        (datetime, '"2026-11-28T12:00:00Z"', datetime(2026, 11, 28, 12, tzinfo=UTC)),
        (UUID, '"00000000-0000-0000-0000-000000000007"', UUID(int=7)),
        (Colour, '"red"', Colour.RED),
        (list[Item], '[{"sku": "rose", "price": 1.20}]', [Item("rose", Decimal("1.20"))]),
        (Customer, '{"fullName": "Ada", "since": "2020-01-02"}', Customer("Ada", date(2020, 1, 2))),
        (Card, '{"number": "4", "limit": "1.10"}', Card(number="4", limit=Decimal("1.10"))),
        (Wallet, '{"cards": [{"number": "4"}]}', Wallet([Card(number="4")])),
        (Item | None, "null", None),
        (int | str, '"x"', "x"),
        (dict[str, list[int]], '{"a": [1]}', {"a": [1]}),
    ],
)
def test_variables_become_the_types_of_parameters(kind, json, value):
    found = argument(kind, f'{{"value": {json}}}')
    assert found == value
    assert str(found) == str(value), "digits count"


def test_a_parameter_without_a_type_gets_plain_data():
    def function(value): ...

    assert signature_of(function).arguments(activated('{"value": [1, {"a": null}]}')) == {"value": [1, {"a": None}]}


@pytest.mark.parametrize(
    ("kind", "json", "message"),
    [
        (int, "{}", "variable 'value' is missing"),
        (int, '{"value": null}', "variable 'value' is null"),
        (int, '{"value": "5"}', "variable 'value': Expected `int`, got `str`"),
        (
            list[Item],
            '{"value": [{"sku": "a", "price": 1}, {"sku": "b", "price": true}]}',
            "variable 'value[1].price': Expected `decimal`, got `bool`",
        ),
        (Colour, '{"value": "blue"}', "variable 'value': Invalid enum value 'blue'"),
        (Customer, "{}", "variable 'value' is missing"),
        (Customer, '{"value": {}}', "variable 'value': Object missing required field `fullName`"),
        (Card, '{"value": {"limit": "x"}}', "variable 'value.number': Field required; limit: Input should be a valid"),
        (
            Wallet,
            '{"value": {"cards": [{"number": 4}]}}',
            "variable 'value.cards[0]': number: Input should be a valid string",
        ),
    ],
)
def test_a_variable_that_does_not_fit_says_which_and_leaves_no_retries(kind, json, message):
    with pytest.raises(JobFailed) as failed:
        argument(kind, json)
    assert str(failed.value).startswith(message)
    assert str(failed.value).endswith("(parameter 'value' of function)")
    assert failed.value.retries == 0


@pytest.mark.parametrize(
    ("json", "value"),
    [("{}", 7), ('{"value": null}', 7), ('{"value": 1}', 1)],
)
def test_a_default_stands_for_a_variable_that_is_missing_or_null(json, value):
    assert argument(int, json, default=7) == value


def test_a_type_with_null_keeps_null_and_needs_no_variable():
    assert argument(int | None, '{"value": null}', default=7) is None
    assert argument(int | None, "{}", default=7) == 7
    assert argument(int | None, "{}") is None


def test_the_fetched_variables_are_those_of_the_parameters():
    def named(a: int, context: Job, b: Annotated[str, Variable("order-id")] = ""): ...

    def all_of(a: int, **others): ...

    def with_job_alone(context: Job): ...

    assert signature_of(named).fetched == ["a", "order-id"]
    given = activated('{"a": 1, "order-id": "o-1"}')
    assert signature_of(named).arguments(given) == {"a": 1, "b": "o-1", "context": given}
    assert signature_of(all_of).fetched is None
    assert signature_of(all_of).arguments(activated('{"a": 1, "c": [2]}')) == {"a": 1, "c": [2]}
    assert signature_of(with_job_alone).fetched is None
    assert given.variables == {"a": 1, "order-id": "o-1"}


def positional(a, /): ...


def several(*all): ...


def two_jobs(a: Job, b: Job): ...


def unknown(a: "Nowhere"): ...  # type: ignore[name-defined]  # noqa: F821


def ambiguous(a: Item | Wallet): ...


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (positional, "positional gets its arguments by name: 'a' cannot have one"),
        (several, r"several gets its arguments by name: '\*all' cannot have one"),
        (two_jobs, "two_jobs has two parameters for its job: 'a' and 'b'"),
        (unknown, "the parameters of unknown cannot be read: name 'Nowhere' is not defined"),
        (ambiguous, "the type of parameter 'a' of ambiguous has no form in JSON"),
    ],
)
def test_a_function_that_cannot_be_a_workers_is_refused_at_once(function, message):
    with pytest.raises(BadFunction, match=message):
        Worker().job("t")(function)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"fetch": "card"}, "fetch must be a list of names, not the text 'card'"),
        ({"concurrency": 0}, "concurrency must be above 0, not 0"),
        ({"lease_s": -1}, "lease_s must be above 0, not -1"),
        ({"backoff_s": -1}, "backoff_s must be a time of at least 0 seconds"),
        ({"backoff_s": ()}, "backoff_s must be a time of at least 0 seconds"),
    ],
)
def test_settings_that_make_no_sense_are_refused_at_once(settings, message):
    with pytest.raises(ValueError, match=message):
        Worker().job("t", **settings)


def test_a_type_has_one_function():
    worker, other = Worker(), Worker()
    worker.job("t")(several_of := lambda: None)
    with pytest.raises(ValueError, match="the job type 't' has a function already"):
        worker.job("t")
    other.job("t")(several_of)
    with pytest.raises(ValueError, match="the job type 't' has a function already"):
        worker.include(other)
    with pytest.raises(ValueError, match="tenant_ids must be a list of ids, not the text 'acme'"):
        Worker(tenant_ids="acme")


# -------------------------------------------------------------------------------------------------------- results


class Receipt(TypedDict):
    receipt: str


@pytest.mark.parametrize(
    ("returned", "json"),
    [
        (None, "{}"),
        ({"a": Decimal("1.10")}, '{"a":1.10}'),
        ({"a": 2**70}, f'{{"a":{2**70}}}'),
        (Item("rose", Decimal("0.30")), '{"sku":"rose","price":0.30}'),
        (Customer("Ada", date(2026, 1, 2)), '{"fullName":"Ada","since":"2026-01-02"}'),
        (Card(number="4", limit=Decimal("1.50")), '{"number":"4","limit":1.50}'),
        ({"card": Card(number="4")}, '{"card":{"number":"4","limit":0}}'),
        ({"at": datetime(2026, 11, 28, tzinfo=UTC), "c": Colour.RED}, '{"at":"2026-11-28T00:00:00Z","c":"red"}'),
    ],
)
def test_what_a_function_returns_becomes_variables(returned, json):
    found = completion_of(returned)
    assert found.result is None
    assert encoded(found.variables).decode() == json


def test_a_result_with_a_name_is_one_variable():
    assert completion_of(Decimal("1.5"), "total") == JobCompletion({"total": Decimal("1.5")})


def test_a_number_that_json_does_not_have_is_named():
    with pytest.raises(JobFailed, match=r"a\[1\]\.b is nan, which is no number of JSON"):
        completion_of({"a": [0, {"b": float("nan")}]})


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (Item, ["sku", "price"]),
        (Customer | None, ["fullName", "since"]),
        (Card, ["number", "limit"]),
        (Receipt, ["receipt"]),
        (dict[str, Item], []),
        (int, []),
    ],
)
def test_annotations_tell_what_a_function_sets(kind, names):
    assert list(returned_names(kind)) == names
