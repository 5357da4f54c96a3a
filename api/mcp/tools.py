"""Tools: what an agent may call, and the requests of the REST API that do it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from vivero.api.commands.inner_requests import InnerRequest
from vivero.api.http.problems import bad_request
from vivero.api.http.request import Request
from vivero.api.http.response import Response
from vivero.api.services import Services
from vivero.storage.search.fields import FLAG, NUMBER, TIME, Field
from vivero.storage.search.resources import Resource

Arguments = Mapping[str, msgspec.Raw]
Schema = Mapping[str, Any]


class Place(Enum):
    """The place of a parameter in the request."""

    PATH = "path"
    QUERY = "query"
    BODY = "body"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a tool, with its JSON schema."""

    name: str
    schema: Schema
    place: Place = Place.BODY
    required: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool by the caller of a request."""

    tool: str
    arguments: dict[str, msgspec.Raw]
    request: Request
    services: Services

    async def send(self, inner: InnerRequest) -> Response:
        """The response of the REST API. Raises ClientLeft. A request that waits without its body empties the call."""
        return await self.services.inner.send(self.request, inner, self.tool, self._release)

    async def _release(self) -> None:
        self.arguments.clear()
        await self.request.release_body()


Run = Callable[["Tool", Call], Awaitable[Response]]


async def _request(tool: Tool, call: Call) -> Response:
    return await call.send(composed(tool, call.arguments))


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool. `route` is the route of the REST API whose permission it needs, and which it calls unless `run` does."""

    name: str
    description: str
    route: tuple[str, str]
    parameters: Sequence[Parameter] = ()
    changes: bool = False
    """Whether a call changes anything."""
    run: Run = field(default=_request)
    schema: Schema | None = None
    """The schema of its arguments, if these are whatever an agent finds in a description."""

    def document(self) -> Mapping[str, Any]:
        """The tool as a client sees it."""
        schema = self._schema_of_parameters() if self.schema is None else self.schema
        hints = {"readOnlyHint": not self.changes, "openWorldHint": False}
        return {"name": self.name, "description": self.description, "inputSchema": schema, "annotations": hints}

    def _schema_of_parameters(self) -> Schema:
        required = [each.name for each in self.parameters if each.required]
        return {
            "type": "object",
            "properties": {each.name: each.schema for each in self.parameters},
            "additionalProperties": False,
            **({"required": required} if required else {}),
        }


def checked(tool: Tool, arguments: Arguments) -> None:
    """Raise Problem 400 for arguments that the tool does not have, or that are missing."""
    if tool.schema is not None:
        return
    known = {each.name for each in tool.parameters}
    for name in arguments:
        if name not in known:
            has = ", ".join(sorted(known)) or "none"
            raise bad_request(f"The tool {tool.name} has no argument '{name[:100]}'. Its arguments: {has}")
    for each in tool.parameters:
        if each.required and each.name not in arguments:
            raise bad_request(f"The tool {tool.name} needs the argument '{each.name}'")


def composed(tool: Tool, arguments: Arguments) -> InnerRequest:
    """The request for a call. Values of the body are sent as they came. Raises Problem 400."""
    method, path = tool.route
    places = {each.name: each.place for each in tool.parameters}
    query: dict[str, str] = {}
    body: dict[str, msgspec.Raw] = {}
    for name, value in arguments.items():
        if places[name] is Place.BODY:
            body[name] = value
        elif places[name] is Place.QUERY:
            query[name] = plain(name, value)
        else:
            path = path.replace(f"{{{name}}}", quote(plain(name, value), safe=""))
    content = b"" if method == "GET" else msgspec.json.encode(body)
    return InnerRequest(method, path, content, urlencode(query))


def plain(name: str, value: msgspec.Raw) -> str:
    """A text, number, or true or false, as the part of a path. Raises Problem 400."""
    found: str | int | bool = _decoded(name, value, str | int | bool)
    if isinstance(found, bool):
        return "true" if found else "false"
    if found == "":
        raise bad_request(f"The argument '{name}' is empty")
    return str(found)


def _decoded(name: str, value: msgspec.Raw, type: Any) -> Any:
    try:
        return msgspec.json.decode(value, type=type)
    except msgspec.DecodeError as error:
        raise bad_request(f"The argument '{name}' is wrong: {error}") from error


def decoded(call: Call, type: Any) -> Any:
    """The arguments of a call as a value of this type. Raises Problem 400, which names the argument."""
    try:
        return msgspec.json.decode(msgspec.json.encode(call.arguments), type=type)
    except msgspec.DecodeError as error:
        raise bad_request(f"The arguments of {call.tool} are wrong: {error}") from error


def failed(response: Response) -> bool:
    """Whether the REST API refused the request."""
    return response.status >= 400


def content(response: Response) -> dict[str, Any]:
    """The result of a call: the body as text, and a JSON object as such, too."""
    body = response.body or b'{"status": "done"}'
    shown: dict[str, Any] = {"content": [{"type": "text", "text": body.decode(errors="replace")}]}
    if body.startswith(b"{"):
        shown["structuredContent"] = msgspec.Raw(body)
    shown["isError"] = failed(response)
    return shown


def filter_schema(resource: Resource, also: Iterable[tuple[str, Schema]] = ()) -> Schema:
    """The JSON schema of the filters of a resource: a value for each field, or an object of operators."""
    fields = {each.name: _field_schema(each) for each in resource.fields if each.operators}
    return {
        "type": "object",
        "description": 'Field → value, or operators: {"$in": [...]}, {"$neq": ...}, {"$exists": true}, for texts'
        ' {"$like": "order-*"}, for numbers and times {"$gte": ..., "$lt": ...}',
        "properties": {**fields, **dict(also)},
    }


def _field_schema(one: Field) -> Schema:
    if one.values:
        return {"type": ["string", "object"], "description": f"One of {', '.join(one.values)}"}
    if one.type is NUMBER:
        return {"type": ["integer", "object"]}
    if one.type is FLAG:
        return {"type": ["boolean", "object"]}
    if one.type is TIME:
        return {"type": ["string", "object"], "format": "date-time"}
    return {"type": ["string", "object"]}


def searching(resource: Resource, also: Iterable[tuple[str, Schema]] = ()) -> tuple[Parameter, ...]:
    """The parameters of a search."""
    sorted_by = [each.name for each in resource.fields if each.sort]
    return (
        Parameter("filter", filter_schema(resource, also)),
        Parameter("sort", _sort_schema(sorted_by)),
        Parameter("page", PAGE),
    )


PAGE: Schema = {
    "type": "object",
    "description": "Without it, the first 20. For the next page give `page.endCursor` of the answer as `after`",
    "properties": {"limit": {"type": "integer", "default": 20}, "after": {"type": "string"}},
}
_USUAL_PAGE = {"limit": msgspec.Raw(b"20")}


def _sort_schema(fields: Sequence[str]) -> Schema:
    item = {
        "type": "object",
        "properties": {"field": {"enum": fields}, "order": {"enum": ["ASC", "DESC"]}},
        "required": ["field"],
    }
    return {"type": "array", "items": item}


async def search(tool: Tool, call: Call) -> Response:
    """Search, for twenty results a page unless the agent wants more: they fill its memory. Raises Problem 400."""
    given = call.arguments.get("page", msgspec.Raw(b"null"))
    page = _USUAL_PAGE | (_decoded("page", given, dict[str, msgspec.Raw] | None) or {})
    return await call.send(composed(tool, {**call.arguments, "page": msgspec.Raw(msgspec.json.encode(page))}))
