"""Statistics by process, version, error and definition, over rows of the database."""

from hashlib import md5

import pytest

from tests.api.official import decode
from tests.api.rows import KEY, NOW

CAUSE = "No more retries left."


def hash_of(message):
    """The number of an error: the first 32 bits of its MD5."""
    return int.from_bytes(md5(message.encode()).digest()[:4], signed=True)


@pytest.fixture
def data(rows):
    """Two versions of `order`, and `claim`, with counts of instances; some instances have incidents."""
    rows.definition(KEY, name="Order (old)")
    rows.definition(KEY + 1, version=2, name="Order")
    rows.definition(KEY + 2, version=3, name="Order, unused")
    rows.definition(KEY + 3, process_id="claim")
    put = "INSERT INTO element_counts VALUES (%s, %s, %s, %s, 0, 0)"
    for partition, key, element, active in [
        *[(1, KEY, "", 5), (2, KEY, "", 2), (1, KEY, "task", 99), (1, KEY + 1, "", 3), (1, KEY + 2, "", 0)],
        (1, KEY + 3, "", 4),
    ]:
        rows.execute(put, (partition, key, element, active))
    stuck = {10: (KEY, [CAUSE, CAUSE]), 20: (KEY, [CAUSE, "other"]), 30: (KEY + 1, [CAUSE]), 40: (KEY + 3, ["third"])}
    for offset, (definition, messages) in stuck.items():
        rows.instance(KEY + offset, incidents=len(messages), process_definition_key=definition)
        for number, message in enumerate(messages):
            more = {"process_definition_key": definition, "message": message, "process_instance_key": KEY + offset}
            rows.incident(KEY + offset + number + 1, **more)
    rows.instance(KEY + 50, incidents=1, ended_at=NOW, state="TERMINATED")
    rows.instance(KEY + 60, suspended_at=NOW)
    rows.instance(KEY + 70, incidents=1, suspended_at=NOW)
    more = {"state": "RESOLVED", "resolved_at": NOW, "message": "cured"}
    rows.incident(KEY + 51, process_instance_key=KEY + 50, **more)
    return rows


async def found(reader, path, body=b""):
    answer = await reader("POST", f"/v2/{path}", body)
    assert answer.status == 200, answer.body
    return answer.json


def by_process(id, name, several, without, having, suspended=0):
    return {
        "processDefinitionId": id,
        "tenantId": "<default>",
        "latestProcessDefinitionName": name,
        "hasMultipleVersions": several,
        "activeInstancesWithoutIncidentCount": without,
        "activeInstancesWithIncidentCount": having,
        "suspendedInstancesCount": suspended,
    }


PROCESSES = "process-definitions/statistics/process-instances"


async def test_instances_by_process(data, reader):
    document = await found(reader, PROCESSES)
    order, claim = by_process("order", "Order", True, 5, 3, 2), by_process("claim", None, False, 3, 1)
    assert document["items"] == [order, claim]
    assert (document["page"]["totalItems"], document["page"]["hasMoreTotalItems"]) == (2, False)
    assert decode("ProcessDefinitionInstanceStatisticsQueryResult", document).items[0].has_multiple_versions
    ascending = {"sort": [{"field": "activeInstancesWithIncidentCount"}]}
    assert (await found(reader, PROCESSES, ascending))["items"] == [claim, order]
    by_id = {"sort": [{"field": "processDefinitionId", "order": "ASC"}], "page": {"from": 1, "limit": 1}}
    document = await found(reader, PROCESSES, by_id)
    assert (document["items"], document["page"]["totalItems"]) == ([order], 2)


async def test_pages_follow_one_another(data, reader):
    first = await found(reader, PROCESSES, {"page": {"limit": 1}})
    second = await found(reader, PROCESSES, {"page": {"limit": 1, "after": first["page"]["endCursor"]}})
    assert [page["items"][0]["processDefinitionId"] for page in (first, second)] == ["order", "claim"]
    nothing = await found(reader, PROCESSES, {"page": {"after": second["page"]["endCursor"]}})
    assert nothing["items"] == []


async def test_instances_by_version(data, reader):
    path = f"{PROCESSES}-by-version"
    document = await found(reader, path, {"filter": {"processDefinitionId": "order"}})
    shared = {"processDefinitionId": "order", "tenantId": "<default>"}
    newer = {"processDefinitionKey": str(KEY + 1), "processDefinitionName": "Order", "processDefinitionVersion": 2}
    older = {"processDefinitionKey": str(KEY), "processDefinitionName": "Order (old)", "processDefinitionVersion": 1}
    counts = [
        {
            "activeInstancesWithoutIncidentCount": without,
            "activeInstancesWithIncidentCount": having,
            "suspendedInstancesCount": suspended,
        }
        for without, having, suspended in ((2, 1, 0), (3, 2, 2))
    ]
    assert document["items"] == [newer | shared | counts[0], older | shared | counts[1]]
    assert len(decode("ProcessDefinitionInstanceVersionStatisticsQueryResult", document).items) == 2
    sort = [{"field": "activeInstancesWithIncidentCount", "order": "DESC"}]
    document = await found(reader, path, {"filter": {"processDefinitionId": "order"}, "sort": sort})
    assert [item["processDefinitionVersion"] for item in document["items"]] == [1, 2]
    of_other = {"filter": {"processDefinitionId": "order", "tenantId": "other"}}
    assert (await found(reader, path, of_other))["items"] == []


ERRORS = "incidents/statistics/process-instances-by-error"


async def test_instances_by_error(data, reader):
    """An instance with two incidents of one error counts once; resolved incidents do not count."""
    document = await found(reader, ERRORS)
    assert document["items"][0] == {
        "errorHashCode": hash_of(CAUSE),
        "errorMessage": CAUSE,
        "activeInstancesWithErrorCount": 3,
    }
    assert {item["errorMessage"]: item["activeInstancesWithErrorCount"] for item in document["items"][1:]} == {
        "other": 1,
        "third": 1,
    }
    assert decode("IncidentProcessInstanceStatisticsByErrorQueryResult", document).items[0].error_message == CAUSE
    by_message = {"sort": [{"field": "errorMessage", "order": "DESC"}], "page": {"limit": 2}}
    document = await found(reader, ERRORS, by_message)
    assert [item["errorMessage"] for item in document["items"]] == ["third", "other"]
    more = await found(reader, ERRORS, by_message | {"page": {"after": document["page"]["endCursor"]}})
    assert [item["errorMessage"] for item in more["items"]] == [CAUSE]


ALIKE = (
    (
        "card '4711' of ada@example.com has a limit of 12.50 EUR",
        "card '' of g.hopper@navy.example.org has a limit of 7 EUR",
        "card 'x y' of a-b@c-d.ef has a limit of 1,000 EUR",
    ),
    (
        'no order "A-1" in 6f9619ff-8b86-d011-b42d-00c04fc964ff',
        'no order "" in 00000000-0000-0000-0000-000000000000',
    ),
    ("it isn't there: the customer's data", "it isn't there: the customer's data"),
)
"""Messages of one cause each."""
UNLIKE = ("it isn't here: the customer's data", "card of somebody has a limit", "timeout", "Timeout", "")


async def test_incidents_by_cause(rows, reader):
    """The numbers are exact, by tenant, and the filter of a cause finds what was counted."""
    rows.definition(KEY)
    rows.definition(KEY + 1, version=2)
    messages = [*(message for group in ALIKE for message in group), *UNLIKE]
    for number, message in enumerate(messages):
        rows.instance(KEY + 100 + number, incidents=1)
        of = {"process_instance_key": KEY + 100 + number, "process_definition_key": KEY + number % 2}
        rows.incident(KEY + 200 + number, message=message, **of)
    rows.incident(KEY + 300, message=ALIKE[0][0], state="RESOLVED", resolved_at=NOW)
    document = await found(reader, "incidents/statistics/by-cause")
    counts = {item["errorMessage"]: item["activeIncidentsCount"] for item in document["items"]}
    assert counts == {group[-1]: len(group) for group in ALIKE} | dict.fromkeys(UNLIKE, 1)
    first = document["items"][0]
    assert {name: first[name] for name in ("incidentKey", "processInstanceKey", "jobKey", "processDefinitionId")} == {
        "incidentKey": str(KEY + 202),
        "processInstanceKey": str(KEY + 102),
        "jobKey": None,
        "processDefinitionId": "order",
    }
    for path, field in (("incidents", "causeHashCode"), ("process-instances", "incidentCauseHashCode")):
        body = {"filter": {field: first["causeHashCode"], "state": "ACTIVE"}}
        assert (await found(reader, f"{path}/search", body))["page"]["totalItems"] == len(ALIKE[0])
    at = {"filter": {name: first[name] for name in ("causeHashCode", "elementId", "errorType")}}
    [again] = (await found(reader, "incidents/statistics/by-cause", at))["items"]
    assert again == first
    small = await found(reader, "incidents/statistics/by-cause", {"page": {"limit": 2}})
    more = {"page": {"after": small["page"]["endCursor"]}}
    rest = await found(reader, "incidents/statistics/by-cause", more)
    assert [*small["items"], *rest["items"]] == document["items"]
    rows.definition(KEY + 2, tenant_id="other")
    rows.incident(KEY + 301, message=ALIKE[0][0], process_definition_key=KEY + 2, tenant_id="other")
    same = {"filter": {"causeHashCode": first["causeHashCode"]}}
    counts = (await found(reader, "incidents/statistics/by-cause", same))["items"]
    assert {one["tenantId"]: one["activeIncidentsCount"] for one in counts} == {"<default>": 3, "other": 1}


async def test_instances_of_an_error_by_definition(data, reader):
    path = "incidents/statistics/process-instances-by-definition"
    document = await found(reader, path, {"filter": {"errorHashCode": hash_of(CAUSE)}})
    assert [(item["processDefinitionKey"], item["activeInstancesWithErrorCount"]) for item in document["items"]] == [
        (str(KEY), 2),
        (str(KEY + 1), 1),
    ]
    assert document["items"][1] == {
        "processDefinitionId": "order",
        "processDefinitionKey": str(KEY + 1),
        "processDefinitionName": "Order",
        "processDefinitionVersion": 2,
        "tenantId": "<default>",
        "activeInstancesWithErrorCount": 1,
    }
    assert len(decode("IncidentProcessInstanceStatisticsByDefinitionQueryResult", document).items) == 2
    assert (await found(reader, path, {"filter": {"errorHashCode": hash_of("cured")}}))["items"] == []


async def test_instances_with_an_error_are_found(data, reader):
    for message, offsets in ((CAUSE, [10, 20, 30]), ("other", [20]), ("cured", [])):
        body = {"filter": {"incidentErrorHashCode": hash_of(message)}}
        document = await found(reader, "process-instances/search", body)
        assert [item["processInstanceKey"] for item in document["items"]] == [str(KEY + each) for each in offsets]


SUBSCRIPTIONS = "process-definitions/statistics/message-subscriptions"


async def test_open_message_subscriptions(rows, reader):
    rows.definition(KEY)
    rows.definition(KEY + 1, version=2)
    shared = {"process_id": "order", "process_version": 1, "interrupting": True, "target_element_id": "wait"}
    shared |= {"type": "INTERMEDIATE", "correlation_key": "1", "tenant_id": "<default>", "root_key": KEY}
    shared |= {"created_at": NOW, "updated_at": NOW, "element_instance_key": KEY}
    for number, (definition, instance, kind, name, ended) in enumerate(
        [
            *[(KEY, 1, "MESSAGE", "a", None), (KEY, 1, "MESSAGE", "b", None), (KEY, 2, "MESSAGE", "a", None)],
            *[(KEY, 3, "SIGNAL", "a", None), (KEY, 4, "MESSAGE", "a", NOW), (KEY + 1, 5, "MESSAGE", "a", None)],
        ]
    ):
        keys = {"subscription_key": number, "process_definition_key": definition, "process_instance_key": instance}
        state = "CREATED" if ended is None else "CORRELATED"
        rows.put("subscriptions", **keys, **shared, kind=kind, name=name, ended_at=ended, state=state)
    document = await found(reader, SUBSCRIPTIONS)
    counts = [
        (item["processDefinitionKey"], item["processInstancesWithActiveSubscriptions"], item["activeSubscriptions"])
        for item in document["items"]
    ]
    assert counts == [(str(KEY), 2, 3), (str(KEY + 1), 1, 1)]
    assert (
        decode("ProcessDefinitionMessageSubscriptionStatisticsQueryResult", document).items[0].tenant_id == "<default>"
    )
    document = await found(reader, SUBSCRIPTIONS, {"filter": {"messageName": "b"}})
    assert [item["activeSubscriptions"] for item in document["items"]] == [1]
    after = (await found(reader, SUBSCRIPTIONS, {"page": {"limit": 1}}))["page"]["endCursor"]
    document = await found(reader, SUBSCRIPTIONS, {"page": {"after": after}})
    assert [item["processDefinitionKey"] for item in document["items"]] == [str(KEY + 1)]


@pytest.mark.parametrize(
    ("path", "body", "detail"),
    [
        (f"{PROCESSES}-by-version", {}, "No filter.processDefinitionId provided."),
        (f"{PROCESSES}-by-version", {"filter": {"tenantId": "a"}}, "No filter.processDefinitionId provided."),
        (ERRORS.replace("error", "definition"), {}, "No filter.errorHashCode provided."),
        (PROCESSES, {"filter": {"processDefinitionId": "a"}}, "[filter.processDefinitionId] cannot be parsed"),
        (ERRORS, {"filter": {"errorHashCode": 1}}, "[filter.errorHashCode] cannot be parsed"),
        (PROCESSES, {"sort": [{"field": "tenantId"}]}, "Unexpected value 'tenantId' for enum field 'field'"),
        (ERRORS, {"page": {"limit": 0}}, "The value for page.limit is '0' but must be between 1 and 10000"),
        (ERRORS, {"page": {"after": "x"}}, "The cursor 'x' cannot be used"),
    ],
)
@pytest.mark.harmless
async def test_requests_that_cannot_be_answered(reader, path, body, detail):
    answer = await reader("POST", f"/v2/{path}", body)
    assert answer.status == 400
    assert detail in answer.problem["detail"]
