"""Secrets of connectors: `{{secrets.NAME}}` in a model stands for a value of the environment or of a file.

In data these signs stand for themselves. A job says where its model's author wrote them
(`core.shared.secret_places`).

The value exists only in the request to the other system. It is replaced by `***` in whatever comes back, because
responses and errors become variables, incidents and log lines.
"""

from __future__ import annotations

import json
import os
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import trio

from vivero.core.bpmn.reading.secret_references import REFERENCE
from vivero.core.feel import from_json
from vivero.core.shared.secret_places import HEADER, Header, digest
from vivero.engine.connectors.work.jobs import ConnectorJob
from vivero.engine.connectors.work.masks import Form, forms_of

MASK = "***"
MASKED_BYTES = 64 * 1024
"""The bytes of a file that are masked at once: some milliseconds."""
LEAST_MASKED = 3
"""Characters. A shorter text occurs everywhere by chance."""

Secrets = Callable[[], Mapping[str, str]]
"""Reads all secrets by name. Raises BadSecrets."""


class BadSecrets(Exception):
    """The file of secrets cannot be used."""


class UnknownSecret(Exception):
    """There is no secret of this name, or its place in an input is not the one that the model gave it."""


def load(file: Path | None, prefix: str, environment: Mapping[str, str] | None = None) -> Mapping[str, str]:
    """All secrets by name: those of the environment, and those of the file. Raises BadSecrets."""
    variables = os.environ if environment is None else environment
    found = {name.removeprefix(prefix): value for name, value in variables.items() if name.startswith(prefix)}
    return found if file is None else found | _from_file(file)


def _from_file(file: Path) -> dict[str, str]:
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise BadSecrets(f"the file of secrets {file} cannot be read: {type(error).__name__}") from error
    except (ValueError, RecursionError):  # not only TOMLDecodeError: a number with too many digits
        raise BadSecrets(f"the file of secrets {file} is not valid TOML") from None  # the error may quote a secret
    for name, value in content.items():
        if not isinstance(value, str):
            raise BadSecrets(f"the secret '{name}' in {file} is not a text")
    return content


class UsedSecrets:
    """The secrets of one call: it puts them into the inputs, and masks them in what comes back."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self._secrets = secrets
        self._masked: dict[str, tuple[Form, ...]] = {}

    def resolve(self, text: str) -> str:
        """A text of the model with all secrets. No part of it may come from data. Raises UnknownSecret."""
        return REFERENCE.sub(lambda found: self._value(found[1]), text)

    def inputs(self, job: ConnectorJob, only: Sequence[str] | None = None) -> Mapping[str, Any]:
        """The variables of a job with secrets in the places that its model gave them, and nowhere else.

        `only`: the inputs that get secrets, with all below them, as `data.transport`. Other references stay text.

        Raises:
            UnknownSecret: there is no such secret, or a variable has changed since its mapping.
            EvaluationError: a variable cannot be read.
        """
        texts = _variables(job.variables)
        header = job.custom_headers.get(HEADER)
        for name, places in _places(header).items() if header else ():
            if name not in texts or not _reaches(name, only):
                continue  # a variable that only other mappings read, or that gets no secrets
            text = str(texts[name], "utf-8")
            if places is None or places.sha256 != digest(text):
                raise UnknownSecret(
                    f"the input '{name}' is not what its mapping gave, so no secret is put into it: set variables that"
                    " contain secrets by input mappings only, and do not compare or cut references to secrets"
                )
            allowed = places.places if only is None else _places_in(name, text, places.places, only)
            texts[name] = msgspec.Raw(self._put(text, allowed).encode())
        return {name: from_json(bytes(text)) for name, text in texts.items()}

    def _put(self, json_text: str, places: Iterable[Place]) -> str:
        """JSON text with secrets instead of the references at these places."""
        values = dict[Place, str]()
        for begin, end in places:
            reference = REFERENCE.fullmatch(json.loads(f'"{json_text[begin:end]}"'))
            if reference is None:
                raise UnknownSecret(f"the header {HEADER} of the job names a place without a secret")
            values[begin, end] = self._value(reference[1])
        return _spliced(json_text, values)

    def _value(self, name: str) -> str:
        value = self._secrets.get(name)
        if value is None:
            raise UnknownSecret(f"there is no secret '{name}'")
        self.hide(value)
        return value

    def hide(self, text: str) -> None:
        """Mask this text, too: a token, or credentials that are made from secrets."""
        if len(text) >= LEAST_MASKED:
            self._masked.setdefault(text, forms_of(text))

    def mask(self, value: Any) -> Any:
        """The value with `***` instead of each secret."""
        forms = self._forms()
        return _masked(value, re.compile("|".join(form.pattern for form in forms))) if forms else value

    async def mask_file(self, content: bytes) -> bytes:
        """A file with `***` instead of each secret in UTF-8. Other tasks run between two pieces of it.

        A thread would not help them: a regular expression holds the interpreter's lock.
        """
        forms = self._forms()
        if not forms:
            return content
        pattern = re.compile("|".join(form.pattern for form in forms).encode(errors="surrogatepass"))
        longest = max(form.most_bytes for form in forms)
        parts, copied, position = list[bytes](), 0, 0
        while position < len(content):
            until = position + MASKED_BYTES
            for found in pattern.finditer(content, position, until + longest - 1):
                if found.start() >= until:
                    break  # the next piece has all of it, and perhaps a longer secret
                parts += (content[copied : found.start()], MASK.encode())
                copied = found.end()
            position = max(until, copied)
            await trio.lowlevel.checkpoint()
        return b"".join((*parts, content[copied:]))

    def _forms(self) -> list[Form]:
        """The longest texts first: one may be a part of another."""
        return [form for text in sorted(self._masked, key=len, reverse=True) for form in self._masked[text]]


def _spliced(json_text: str, texts: Mapping[Place, str]) -> str:
    """JSON text with these texts in these places."""
    parts, end = [], 0
    for (begin, after), text in texts.items():
        parts += [json_text[end:begin], json.dumps(text)[1:-1]]
        end = after
    return "".join((*parts, json_text[end:]))


def _reaches(variable: str, only: Sequence[str] | None) -> bool:
    """Whether one of the inputs lies in the variable."""
    return only is None or any(path.partition(".")[0] == variable for path in only)


def _places_in(variable: str, json_text: str, places: Sequence[Place], only: Sequence[str]) -> list[Place]:
    """Those of the places that lie in the inputs `only`. A tag in each place tells where it lies.

    No variable can contain NUL, so data has no tags.
    """
    tags = {(begin, end): f"\0{number}\0" for number, (begin, end) in enumerate(places)}
    tagged = json.loads(_spliced(json_text, tags))
    allowed = {tag for path in only for text in _texts(_below(variable, tagged, path)) for tag in _TAG.findall(text)}
    return [place for place, tag in tags.items() if tag in allowed]


def _below(variable: str, value: Any, path: str) -> Any:
    """The part of a variable's value that an input is. None: the variable has no such part."""
    first, *rest = path.split(".")
    if first != variable:
        return None
    for part in rest:
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _texts(value: Any) -> Iterator[str]:
    """All texts in a value, with the names of entries."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield name
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


Place = tuple[int, int]
_TAG = re.compile("\0[0-9]+\0")
_variables = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_places = msgspec.json.Decoder(Header).decode


def _masked(value: Any, texts: re.Pattern[str]) -> Any:
    if isinstance(value, str):
        return texts.sub(MASK, value)
    if isinstance(value, dict):
        return {_masked(name, texts): _masked(item, texts) for name, item in value.items()}
    if isinstance(value, list):
        return [_masked(item, texts) for item in value]
    return value
