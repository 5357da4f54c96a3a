"""Variables: read, search, set."""

from __future__ import annotations

from typing import Any

from vivero.api.commands import submission
from vivero.api.computing.large_bodies import body_of, variables_of
from vivero.api.http.decoding import Body, Int64, check_reference, decoder
from vivero.api.http.problems import invalid_argument
from vivero.api.http.request import Request
from vivero.api.http.response import Response
from vivero.api.search.search_requests import answer, getting
from vivero.api.services import Services
from vivero.core.records.instances import SetVariables
from vivero.storage.search.variables import VARIABLE, VARIABLE_PREVIEWS, VARIABLES

get = getting(VARIABLE, "variableKey")


class SetVariablesBody(Body, frozen=True):
    variables: dict[str, Any] | None = None
    local: bool | None = None
    operation_reference: Int64 | None = None


_set_decoder = decoder(SetVariablesBody)


async def search(request: Request, services: Services) -> Response:
    """POST /v2/variables/search: long values are truncated unless `truncateValues=false`."""
    preview = request.flag("truncateValues", True)
    return await answer(request, services, VARIABLE_PREVIEWS if preview else VARIABLES)


async def set(request: Request, services: Services) -> Response:
    """PUT /v2/element-instances/{key}/variables: set variables in the scope (`local`), or where each is defined."""
    key = request.key("elementInstanceKey")
    body = await body_of(request, services, _set_decoder)
    check_reference(body.operation_reference)
    if body.variables is None:
        raise invalid_argument("No variables provided")
    variables = variables_of(services, body.variables)
    return await submission.command(request, services, SetVariables(key, variables, body.local or False), key)
