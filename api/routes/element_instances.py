"""Element instances: read and search, and activate elements of ad-hoc sub-processes. The process is not among them."""

from __future__ import annotations

from vivero.api.commands import submission
from vivero.api.computing.large_bodies import body_of
from vivero.api.http.decoding import Body, decoder
from vivero.api.http.problems import invalid_argument
from vivero.api.http.request import Request
from vivero.api.http.response import Response
from vivero.api.job_reports.results import ElementBody, elements_of
from vivero.api.search.search_requests import getting, searching
from vivero.api.services import Services
from vivero.core.records.ad_hoc import ActivateAdHocElements
from vivero.storage.search.element_instances import ELEMENT_INSTANCES

get = getting(ELEMENT_INSTANCES, "elementInstanceKey")
search = searching(ELEMENT_INSTANCES)


class AdHocActivationBody(Body, frozen=True):
    elements: list[ElementBody] | None = None
    cancel_remaining_instances: bool | None = None


_activation_decoder = decoder(AdHocActivationBody)


async def activate(request: Request, services: Services) -> Response:
    """POST /v2/element-instances/ad-hoc-activities/{key}/activation: activate elements of an ad-hoc sub-process."""
    key = request.key("adHocSubProcessInstanceKey")
    body = await body_of(request, services, _activation_decoder)
    if not body.elements:
        raise invalid_argument("No elements provided")
    elements = elements_of(body.elements, "elements", services.settings)
    command = ActivateAdHocElements(key, elements, body.cancel_remaining_instances or False)
    return await submission.command(request, services, command, key)
