"""Business ids of process instances: their limits in requests, and the assignment to an instance that runs."""

from __future__ import annotations

from vivero.api.commands.dry_runs import submit_or_try
from vivero.api.http.decoding import Body, Violations, decode, decoder
from vivero.api.http.request import Request
from vivero.api.http.response import Response
from vivero.api.services import Services
from vivero.core.bpmn.reading.text_limits import BUSINESS_ID_CHARACTERS
from vivero.core.records.business_ids import AssignBusinessId


class BusinessIdBody(Body, frozen=True):
    business_id: str | None = None


_decoder = decoder(BusinessIdBody)


async def assign(request: Request, services: Services) -> Response:
    """POST /v2/process-instances/{key}/business-id-assignment: give a business id to an instance that has none."""
    key = request.key("processInstanceKey")
    body = decode(request, _decoder, services.settings)
    found = Violations()
    check(found, body.business_id or "")
    found.check()
    return await submit_or_try(request, services, AssignBusinessId(key, body.business_id or ""), key)


def check(found: Violations, business_id: str | None) -> None:
    """Find out whether a business id is too long or empty; None: the request has none."""
    if business_id is not None:
        found.require("businessId", business_id)
        found.longest("businessId", business_id, BUSINESS_ID_CHARACTERS)
