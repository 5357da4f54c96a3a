"""GET /v2/process-instances/{key}/trace: what happened, one line an event."""

from random import Random

from tests.api.rows import KEY, NOW
from vivero.core.records.instances import ElementActivating, ElementCompleted, InstanceCreated, VariableSet
from vivero.core.records.jobs import CompleteJob

PATH = f"/v2/process-instances/{KEY}/trace"
CREATED = InstanceCreated(KEY, KEY, "order", 1, None, None, "<default>", None, ())


async def test_commands_with_the_lines_of_their_events(happened, reader):
    happened(3, CREATED, ElementActivating(KEY + 1, KEY, "work", "TASK", ("in",)))
    happened(5, ElementCompleted(KEY + 1, ("out",)), command=CompleteJob(KEY + 9))
    happened(5, ElementCompleted(KEY), seq=1)
    happened(4, ElementCompleted(KEY + 77), root=KEY + 70)
    assert (await reader("GET", PATH)).json == {
        "items": [
            {
                "commandPosition": "3",
                "at": NOW,
                "lines": ["InstanceCreated    order v1", "ElementActivating  work in order <- in"],
            },
            {
                "commandPosition": "5",
                "at": NOW,
                "lines": ["> CompleteJob #10", "ElementCompleted   work -> out", "ElementCompleted   order"],
            },
        ],
        "next": None,
    }


async def test_a_called_process_is_told_with_its_caller(happened, rows, reader):
    rows.instance(KEY + 5, root_key=KEY, parent_process_instance_key=KEY)
    happened(3, CREATED)
    (item,) = (await reader("GET", f"/v2/process-instances/{KEY + 5}/trace")).json["items"]
    assert item["lines"] == ["InstanceCreated    order v1"]


async def test_pages_never_tear_a_command(happened, reader, monkeypatch):
    monkeypatch.setattr("vivero.api.routes.traces.MAX_ROWS", 3)
    happened(3, CREATED)
    for seq in range(3):
        happened(4, ElementCompleted(KEY + seq), seq=seq)
    happened(6, ElementCompleted(KEY))
    positions, after = [], ""
    while after is not None:
        page = (await reader("GET", PATH + after)).json
        positions.append([(item["commandPosition"], len(item["lines"])) for item in page["items"]])
        after = page["next"] and f"?after={page['next']}"
    assert positions == [[("3", 1)], [("4", 3)], [("6", 1)]]


async def test_pages_are_bounded_by_bytes_and_have_whole_commands(happened, reader, monkeypatch):
    """A command that is larger than a page has one of its own."""
    monkeypatch.setattr("vivero.api.routes.traces.MAX_BYTES", 1_000)
    small, large = ElementCompleted(KEY), VariableSet(KEY + 1, KEY, "x", f'"{Random(0).randbytes(2_000).hex()}"')
    for position, events in ((3, [small]), (4, [small, large]), (5, [small, small]), (6, [large])):
        for seq, event in enumerate(events):
            happened(position, event, seq=seq)
    positions, after = [], ""
    while after is not None:
        page = (await reader("GET", PATH + after)).json
        positions.append([(item["commandPosition"], len(item["lines"])) for item in page["items"]])
        after = page["next"] and f"?after={page['next']}"
    assert positions == [[("3", 1), ("4", 2)], [("5", 2), ("6", 1)]]


async def test_a_command_of_more_rows_than_a_page_is_told_as_far_as_it_goes(happened, reader, monkeypatch):
    monkeypatch.setattr("vivero.api.routes.traces.MAX_ROWS", 2)
    for seq in range(3):
        happened(4, ElementCompleted(KEY + seq), seq=seq)
    page = (await reader("GET", PATH)).json
    assert ([len(item["lines"]) for item in page["items"]], page["next"]) == ([2], "4")


async def test_what_is_wrong(happened, reader):
    problem = (await reader("GET", f"/v2/process-instances/{KEY + 5}/trace")).problem
    assert (problem["status"], problem["detail"]) == (404, f"Process Instance with key '{KEY + 5}' not found")
    for after in ("x", "-1", "9" * 20):
        problem = (await reader("GET", f"{PATH}?after={after}")).problem
        assert problem["detail"] == f"Failed to convert 'after' with value: '{after}'"
