"""JSON bodies to typed records, without values that must not reach the log.

PostgreSQL does not store NUL in text, clients cannot read numbers beyond double precision, and documents must not be
nested too deeply: such bodies get a 400. Substring tests screen the whole body, and only a suspicious body is walked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from itertools import accumulate
from typing import Annotated, Any, TypeVar

import msgspec

from vivero.api.http.problems import Problem, bad_request, invalid_argument, unparsable
from vivero.api.http.request import INT64_MAX, INT64_MIN, Request, parse_key
from vivero.api.settings import ApiSettings
from vivero.core.bpmn.reading import text_limits
from vivero.core.records.base import Variables
from vivero.storage.search.fields import TIME

T = TypeVar("T")

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)

Int64 = (
    Annotated[int, msgspec.Meta(ge=INT64_MIN, le=INT64_MAX)] | Annotated[str, msgspec.Meta(pattern=r"^-?[0-9]{1,19}$")]
)
"""A 64-bit number. Some clients send it as a string."""

Int32 = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
Key = Annotated[str, msgspec.Meta(pattern=r"^-?[0-9]{1,25}$")]
"""A key in JSON. `as_key` converts it to a number."""


class Body(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A request body. Undeclared properties are an error; null is the same as absent."""


_NUMBER = re.compile("[0-9]{1,19}")
_LARGE_EXPONENT = re.compile(rb"0e[+-]?000")
_LONG_NUMBER = b"0" * 300
_DIGITS_TO_ZERO = bytes.maketrans(b"123456789E", b"000000000e")
"""Translated bodies contain fixed bytes, for which a search is twenty times as fast as for classes of bytes."""
_NOT_STRUCTURE = bytes(set(range(256)) - set(b'[]{}"'))
_NOT_SEPARATOR = bytes(set(range(256)) - set(b'[]{},"'))
_ONE_KIND_OF_BRACKET = bytes.maketrans(b"{}", b"[]")
_STEP = {ord("["): 1, ord("]"): -1}
_MAX_EXPONENT = 308
_MAX_DIGITS = 400

encode_value = msgspec.json.Encoder(decimal_format="number").encode
_JSON_TYPE = re.compile(r"application/(?:[\w.+-]+\+)?json\s*(?:;.*)?", re.IGNORECASE)
_HALF_PAIR = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}(?!\\u[dD][c-fC-F])")
_AT = re.compile(r" - at `(?:key in )?(\$.*)`$", re.DOTALL)
_UNKNOWN = re.compile(r"^Object contains unknown field `(.*?)`(?: - at `\$|$)", re.DOTALL)
_MISSING = re.compile(r"^Object missing required field `(\w+)`")


def decoder(type: type[T]) -> msgspec.json.Decoder[T]:
    """A decoder of bodies. Decimal fractions keep every digit."""
    return msgspec.json.Decoder(type, float_hook=_decimal)


def _decimal(text: str) -> Decimal:
    """A function in Python: other threads get their turn before it is called."""
    return Decimal(text)


any_decoder = decoder(object)


def check_json_type(request: Request) -> None:
    """Raise Problem 415 for a body whose Content-Type is not JSON.

    Web pages can send other types, or none, to any server without a preflight request.
    """
    fields = request.fields
    if fields.get(b"content-type") == b"application/json" and len(fields) == len(request.headers):
        return
    content_type = request.header(b"content-type")
    if not _JSON_TYPE.fullmatch(content_type or ""):
        what = "A body without Content-Type" if content_type is None else f"Content-Type '{content_type[:100]}'"
        raise Problem(415, "Unsupported Media Type", f"{what} is not supported; use application/json")


def decode(request: Request, decoder: msgspec.json.Decoder[T], settings: ApiSettings) -> T:
    """The body of a request that must have one, without large variables (`large_bodies`). Raises Problem 400."""
    if not request.body:
        raise bad_request("Request body is missing")
    check_count(request.body)
    return decode_json(request.body, decoder, settings.max_nesting)


def decode_optional(request: Request, decoder: msgspec.json.Decoder[T], settings: ApiSettings) -> T:
    """The body of a request; a missing body counts as {}. Raises Problem 400."""
    if not request.body.strip():
        return decoder.decode(b"{}")
    return decode(request, decoder, settings)


LARGE_BYTES = 128 * 1024
"""Decoding a body below this size takes 20 ms at most, whatever is in it."""
MAX_BYTES = 1024 * 1024
"""The most bytes of a body without variables. The longest lists of a search, 10,000 keys, take 220 KB."""
MAX_VALUES = 50_000
"""The most values of a larger body, apart from its variables."""


def check_count(body: bytes) -> None:
    """Raise Problem 400 for a document with too many values to decode it at once. Texts may be long."""
    if len(body) < LARGE_BYTES or _separators(body) <= MAX_VALUES:
        return
    if _separators(_without_texts(body, _NOT_SEPARATOR)) > MAX_VALUES:
        raise bad_request(
            f"Request body cannot be parsed: it has more than {MAX_VALUES} values, apart from those of its variables"
        )


def _separators(text: bytes) -> int:
    return len(text) - len(text.translate(None, b",[{"))


def _without_texts(body: bytes, unwanted: bytes) -> bytes:
    """A document without its texts and without the unwanted bytes. The quote must not be one of them."""
    bare = body.replace(rb"\\", b"").replace(rb"\"", b"").translate(None, unwanted)
    # Removing two adjacent quotes does not move anything into or out of a string.
    return b"".join(bare.replace(b'""', b"").split(b'"')[::2])


def decode_json(body: bytes, decoder: msgspec.json.Decoder[T], max_nesting: int) -> T:
    """Screen and decode a document. Raises Problem 400."""
    if body.count(b"[") + body.count(b"{") > max_nesting:
        check_nesting(body, max_nesting)
    try:
        if _is_suspicious(body):
            _check_values(any_decoder.decode(body))
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        raise _problem_of(str(error)) from error
    except msgspec.DecodeError as error:
        raise bad_request(f"Request body cannot be parsed: {_said(error, body)}") from error
    except UnicodeDecodeError as error:
        raise bad_request("Request body cannot be parsed: it is not UTF-8") from error
    except ArithmeticError as error:  # the exponent exceeds even a decimal's range
        raise bad_request("Request body cannot be parsed: a number is out of range") from error


def convert(value: object, type: type[T]) -> T:
    """A part of a decoded body as `type`. Raises Problem 400."""
    try:
        return msgspec.convert(value, type)
    except msgspec.ValidationError as error:
        raise _problem_of(str(error)) from error


def check_nesting(body: bytes, limit: int) -> None:
    """Raise Problem 400 if a document is nested deeper than `limit`. Takes a few linear passes over any document."""
    brackets = _without_texts(body, _NOT_STRUCTURE).translate(_ONE_KIND_OF_BRACKET)
    balanced = brackets.count(b"[") * 2 == len(brackets)
    if not balanced or max(accumulate(map(_STEP.__getitem__, brackets)), default=0) > limit:
        raise bad_request(
            f"Request body cannot be parsed: it is nested deeper than {limit} levels, or its brackets do not match"
        )


def _is_suspicious(body: bytes) -> bool:
    """True if the body may contain a NUL or a number beyond double precision. Avoids patterns that input makes slow."""
    zeros = body.translate(_DIGITS_TO_ZERO)
    return rb"\u0000" in body or _LARGE_EXPONENT.search(zeros) is not None or _LONG_NUMBER in zeros


def _check_values(document: Any) -> None:
    """Raise Problem 400 for a NUL in any text, and for a number beyond the range of a double."""
    for value in _values(document):
        if type(value) is str:
            if "\0" in value:
                raise bad_request("Request body cannot be parsed: a text contains a NUL character")
        elif type(value) is Decimal:
            parts = value.as_tuple()
            if value and (abs(value.adjusted()) > _MAX_EXPONENT or len(parts.digits) > _MAX_DIGITS):
                raise bad_request("Request body cannot be parsed: a number is out of range")
        elif type(value) is int and abs(value) >= 10 ** (_MAX_EXPONENT + 1):
            raise bad_request("Request body cannot be parsed: a number is out of range")


def _values(document: Any) -> Iterator[Any]:
    """Yield all names and values of a document."""
    pending = [document]
    while pending:
        value = pending.pop()
        if type(value) is dict:
            pending.extend(value.keys())
            pending.extend(value.values())
        elif type(value) is list:
            pending.extend(value)
        else:
            yield value


def _said(error: msgspec.DecodeError, body: bytes) -> str:
    """The decoder's message. Half a surrogate pair near the end is a document that was truncated, to the decoder."""
    half = _HALF_PAIR.search(body)
    if half is None or "truncated" not in str(error):
        return str(error)
    return f"JSON is malformed: half of an escaped utf-16 surrogate pair (byte {half.start()})"


def _problem_of(message: str) -> Problem:
    """The decoder's error in the words of Camunda's API."""
    where = _AT.search(message)
    path = where[1].removeprefix("$").removeprefix(".") if where else ""
    field = _UNKNOWN.match(message) or _MISSING.match(message)
    if field is not None:
        path = f"{path}.{field[1][:100]}" if path else field[1][:100]
    if not path:
        return bad_request(f"Request body cannot be parsed: {message}")
    if path.startswith("[...]"):  # in a value of any type, of which the decoder does not name the members
        return bad_request(f"Request body cannot be parsed: {message.partition(' - at `')[0]}")
    return unparsable(path)


# ------------------------------------------------------------------------------------------------- single values


def as_variables(values: Mapping[str, Any] | None, settings: ApiSettings) -> Variables:
    """The variables of a command, each value as compact JSON. Raises Problem 400 beyond the limits."""
    if not values:
        return {}
    if len(values) > settings.max_variables:
        raise invalid_argument(
            f"The request has {len(values)} variables but must not have more than {settings.max_variables}"
        )
    if max(map(len, values)) * 4 > settings.max_name_bytes:
        _check_names(values, settings.max_name_bytes)
    encoded = list(map(encode_value, values.values()))
    if (size := sum(map(len, encoded))) > settings.max_variables_bytes:
        raise invalid_argument(
            f"The variables of the request have {size} bytes but must not have more than {settings.max_variables_bytes}"
        )
    return dict(zip(values, map(msgspec.Raw, encoded), strict=True))


def _check_names(values: Iterable[str], most_bytes: int) -> None:
    for name in values:
        if len(name.encode()) > most_bytes:
            raise invalid_argument(f"The name of a variable is longer than {most_bytes} bytes: '{name[:50]}…'")


def as_key(text: str | None, path: str) -> int | None:
    """A key of a body, as a number. Raises Problem 400 beyond 64 bits."""
    if text is None:
        return None
    key = parse_key(text)
    if key is None:
        raise unparsable(path)
    return key


def as_int64(value: int | str | None, path: str) -> int | None:
    """A number that may be sent as a string. Raises Problem 400 beyond 64 bits."""
    number = int(value) if type(value) is str else value
    if number is not None and not INT64_MIN <= number <= INT64_MAX:  # type: ignore[operator]  # int by now
        raise unparsable(path)
    return number  # type: ignore[return-value]


def number_in_query(request: Request, name: str, default: int) -> int:
    """A number of the query: from 0 to 64 bits, `default` if it is missing. Raises Problem 400."""
    text = request.query.get(name)
    if text is None:
        return default
    if not _NUMBER.fullmatch(text) or int(text) > INT64_MAX:
        raise bad_request(f"Failed to convert '{name}' with value: '{text[:100]}'")
    return int(text)


def time_in_query(request: Request, name: str) -> datetime:
    """A time in the query, which must be there. Raises Problem 400."""
    text = request.query.get(name)
    if text is None:
        raise bad_request(f"Required parameter '{name}' is not present.")
    try:
        found: datetime = TIME.read(text)
    except ValueError as error:
        raise bad_request(f"Failed to convert '{name}' with value: '{text[:100]}'") from error
    return found


def days_in_query(request: Request, most: int) -> tuple[datetime, int]:
    """`startTime`, the beginning of the first day, and `days`, their number: 14 without it. Raises Problem 400."""
    begins, days = time_in_query(request, "startTime"), number_in_query(request, "days", 14)
    if not 1 <= days <= most:
        raise bad_request(f"The value for days is '{days}' but must be between 1 and {most}")
    if begins > datetime.max.replace(tzinfo=UTC) - timedelta(days=days):
        raise bad_request(f"The {days} days from startTime on do not end before the year 10000")
    return begins, days


def check_limit(limit: int, most: int) -> None:
    """Check the number of items that a page may have. Raises Problem 400."""
    if not 1 <= limit <= most:
        raise bad_request(f"The value for limit is '{limit}' but must be between 1 and {most}")


def as_epoch_ms(text: str, path: str) -> int:
    """A date and time with an offset, as epoch ms. Raises Problem 400."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise unparsable(path) from error
    if moment.tzinfo is None:
        raise unparsable(path)
    return (moment - _EPOCH) // _MILLISECOND


class Violations:
    """Collects all violations of a readable request, for one answer."""

    def __init__(self) -> None:
        self._found: list[str] = []

    def add(self, violation: str) -> None:
        self._found.append(violation)

    def require(self, name: str, value: object) -> None:
        """Add a violation if `value` is missing or empty."""
        if value is None or value == "":
            self.add(f"No {name} provided")

    def at_least(self, name: str, value: int | None, least: int) -> None:
        """Add a violation if a number is less than `least`. None passes."""
        if value is not None and value < least:
            bound = f"greater than {least - 1}" if least == 1 else f"at least {least}"
            self.add(f"The value for {name} is '{value}' but must be {bound}")

    def longest(self, name: str, value: str | None, limit: int, setting: str = "") -> None:
        """Add a violation if a text has more than `limit` characters, which is that of a setting. None passes."""
        if value is not None and len(value) > limit:
            why = f" ({setting})" if setting else ""
            self.add(f"The provided {name} is {len(value)} characters long but must not be longer than {limit}{why}")

    def largest(self, name: str, value: str | None, limit: int) -> None:
        """Add a violation if a text has more than `limit` bytes. None passes."""
        if value is not None and (size := text_limits.size(value)) > limit:
            self.add(f"The provided {name} is {size} bytes long but must not be longer than {limit} bytes")

    def check(self) -> None:
        """Raise Problem 400 INVALID_ARGUMENT with all violations, if any."""
        if self._found:
            raise invalid_argument(*self._found)


def check_reference(reference: int | str | None) -> None:
    """Check `operationReference`, a positive number that clients assign to operations. Raises Problem 400."""
    number = as_int64(reference, "operationReference")
    if number is not None and number < 1:
        raise invalid_argument(f"The value for operationReference is '{number}' but must be greater than 0")
