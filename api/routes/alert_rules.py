"""Alert rules: a condition on a figure, and a URL that hears of it. Camunda's API has no such resource."""

from __future__ import annotations

from urllib.parse import urlsplit

import msgspec

from vivero.api.access import tenants
from vivero.api.access.audit import changing
from vivero.api.access.needs import READ_INSTANCE, authorise, denied
from vivero.api.http.decoding import Body, Violations, decode, decoder
from vivero.api.http.problems import Problem, invalid_argument, not_found, unexpected_value
from vivero.api.http.request import Request
from vivero.api.http.response import Response, json_response, no_content
from vivero.api.reading import conditions
from vivero.api.search.search_requests import prepare, run
from vivero.api.services import Services
from vivero.engine.jobs.durations import seconds
from vivero.storage.background import alert_rules
from vivero.storage.background.alert_rules import METRICS, MOST_COUNTED, AlertRule
from vivero.storage.postgres.driver import Connection
from vivero.storage.search.alert_rules import ALERT_RULES
from vivero.storage.search.fields import TIME

MAX_NAME = 100
"""Characters of a rule's name, and of its secret's name."""
MAX_URL = 2000
"""Characters of a rule's URL."""
MOST_RULES = 100
"""Rules of a tenant."""
SHORTEST_S, LONGEST_S = 60, 24 * 3600
"""The interval of a rule."""


class RuleBody(Body, frozen=True):
    name: str | None = None
    process_definition_id: str | None = None
    metric: str | None = None
    threshold: int | None = None
    clears_at: int | None = None
    interval: str = "PT5M"
    url: str | None = None
    to_outbox: bool = False
    secret: str | None = None
    tenant_id: str | None = None


class ChangeBody(Body, frozen=True):
    muted_until: str | msgspec.UnsetType | None = msgspec.UNSET


_decoder, _change_decoder = decoder(RuleBody), decoder(ChangeBody)


async def save(request: Request, services: Services) -> Response:
    """POST /v2/alert-rules: save a rule, also over the one of the tenant with that name. 200 with its key.

    403 if the caller may not read the figure, or that of the rule before; 409 for too many, and without the tenant.
    """
    body = decode(request, _decoder, services.settings)
    every_s, clears_at = _checked(body)
    process = body.process_definition_id or ""
    _check_reads(request, process)
    tenant = tenants.named(request, services, body.tenant_id, "Save Alert Rule", READ_INSTANCE)
    rule = AlertRule(
        tenant,
        (body.name or "").strip(),
        process,
        body.metric or "",
        body.threshold or 0,
        clears_at,
        every_s,
        body.url or "",
        body.to_outbox,
        body.secret or None,
        request.caller.id,
    )
    async with changing(request, services) as connection:
        await tenants.keep_named(connection, tenant)
        replaced = await alert_rules.process_of(connection, tenant, rule.name)
        if replaced is not None:
            _check_reads(request, replaced)
        key = await alert_rules.save(connection, rule, MOST_RULES)
        if key is None:
            raise Problem(409, "INVALID_STATE", f"A tenant has at most {MOST_RULES} alert rules: delete one first")
    return json_response({"alertRuleKey": str(key)})


def _checked(body: RuleBody) -> tuple[int, int]:
    """The interval in seconds, and the value at which the alert ends. Raises Problem 400."""
    found, url = Violations(), body.url or ""
    name = (body.name or "").strip()
    found.require("name", name)
    found.longest("name", name, MAX_NAME)
    if not body.to_outbox:
        found.require("url", url)
    found.longest("url", url, MAX_URL)
    found.longest("secret", body.secret, MAX_NAME)
    found.require("metric", body.metric)
    found.require("threshold", body.threshold)
    threshold = body.threshold or 0
    clears_at = threshold if body.clears_at is None else body.clears_at
    if not 0 <= threshold < MOST_COUNTED:
        found.add(f"The value for threshold is '{threshold}' but must be between 0 and {MOST_COUNTED - 1}")
    if not 0 <= clears_at <= threshold:
        found.add(f"The value for clearsAt is '{clears_at}' but must be between 0 and the threshold")
    if url and not _is_url(url):
        found.add("The provided url must begin with http:// or https:// and a host, without credentials and spaces")
    every_s = _interval_s(body.interval, found)
    found.check()
    if body.metric not in METRICS:
        raise unexpected_value(body.metric or "", "metric", METRICS)
    return every_s, clears_at


def _interval_s(text: str, found: Violations) -> int:
    try:
        every_s = seconds(text)
    except ValueError as error:
        found.add(f"The provided interval is wrong: {error}")
        return 0
    if not SHORTEST_S <= every_s <= LONGEST_S:
        found.add(f"The value for interval is '{text}' but must be between PT1M and P1D")
    return int(min(every_s, LONGEST_S))


def _is_url(text: str) -> bool:
    """Whether it is the URL of a host. The address is checked when it is called, after the name was resolved."""
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError:
        return False
    plain = text.isprintable() and " " not in text
    return plain and parts.scheme in ("http", "https") and bool(parts.hostname) and parts.username is None


async def search(request: Request, services: Services) -> Response:
    """POST /v2/alert-rules/search: the rules of the caller's tenants."""
    return await run(request, services, prepare(request, ALERT_RULES, services.settings))


async def change(request: Request, services: Services) -> Response:
    """PATCH /v2/alert-rules/{alertRuleKey} {mutedUntil}: deliver nothing until then; null: deliver again. 204."""
    key, until = request.key("alertRuleKey"), decode(request, _change_decoder, services.settings).muted_until
    if until is msgspec.UNSET:
        raise invalid_argument("No mutedUntil provided")
    try:
        at = None if until is None else TIME.read(until)
    except ValueError as error:
        raise invalid_argument(f"The provided mutedUntil '{str(until)[:100]}' is not a date and time") from error
    async with changing(request, services) as connection:
        await _find(connection, request, key)
        await alert_rules.mute(connection, key, at)
    return no_content()


async def test(request: Request, services: Services) -> Response:
    """POST /v2/alert-rules/{alertRuleKey}/test: deliver a test soon; the search has the outcome. 204."""
    key = request.key("alertRuleKey")
    async with changing(request, services) as connection:
        await _find(connection, request, key)
        if not await alert_rules.test(connection, key):
            raise Problem(409, "INVALID_STATE", f"A test of the alert rule '{key}' already waits for its delivery")
    return no_content()


async def delete(request: Request, services: Services) -> Response:
    """DELETE /v2/alert-rules/{alertRuleKey}: 204."""
    key = request.key("alertRuleKey")
    async with changing(request, services) as connection:
        await _find(connection, request, key)
        await alert_rules.delete(connection, key)
    return no_content()


async def _find(connection: Connection, request: Request, key: int) -> None:
    """Raise Problem: 404 for an unknown rule, 403 for one whose figure the caller may not read."""
    process = await alert_rules.find(connection, key, conditions(request.tenants))
    if process is None:
        raise not_found(ALERT_RULES.name, key)
    _check_reads(request, process)


def _check_reads(request: Request, process: str) -> None:
    """Raise Problem 403 unless the caller may read the instances of the process; "": of all."""
    allowed = authorise(request.caller, READ_INSTANCE)
    if allowed is not None and process not in allowed.ids:
        raise denied(READ_INSTANCE)
