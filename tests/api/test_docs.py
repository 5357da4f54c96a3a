"""The documentation names every route, and every operation of Camunda's API."""

import re
from pathlib import Path

from tests import rest_operations
from vivero.api.routes import ROUTES

PAGE = (Path(__file__).parents[2] / "docs" / "rest-api.md").read_text(encoding="utf-8")


def documented(text):
    """Methods and paths of a text: `(GET|PUT) /a(|/b)` are four."""
    written = re.findall(r"`((?:GET|POST|PUT|PATCH|DELETE|\([A-Z|]+\)) /[^`?]*)`", " ".join(text.split()))
    return [route for each in written for route in alternatives(each)]


def alternatives(written):
    """All texts that alternatives in brackets stand for."""
    before, bracket, rest = written.partition("(")
    choices, _, after = rest.partition(")")
    if not bracket:
        return [written]
    return [before + choice + end for choice in choices.split("|") for end in alternatives(after)]


def test_every_route_is_documented_once_and_no_other_one():
    operations = PAGE.partition("## Operations\n")[2].partition("\n## ")[0]
    without_mentions = operations.replace("in the form of `GET /v2/commands/{position}`", "")
    assert sorted(documented(without_mentions)) == sorted(f"{route.method} {route.path}" for route in ROUTES)
    assert {*documented(PAGE)} == {f"{route.method} {route.path}" for route in ROUTES}


def test_alternatives_in_brackets_are_read():
    assert documented("`(GET|PUT) /a(|/b)/{c}`") == ["GET /a/{c}", "GET /a/b/{c}", "PUT /a/{c}", "PUT /a/b/{c}"]


def test_operations_with_a_route_are_served_and_others_have_a_reason():
    """An operation that gets a route loses its reason: `here` is empty then, or says which part is missing."""
    served = rest_operations.served()
    wrong = []
    for operation in rest_operations.operations():
        whole_or_part = operation.here == "" or operation.here.startswith("partly: ")
        absent = operation.here == "not yet" or operation.here.startswith("no: ")
        if not (whole_or_part if operation.endpoint in served else absent):
            wrong.append(f"{operation.operation}: {operation.here!r} ({operation.method} {operation.path})")
    assert wrong == []


def test_every_route_is_an_operation_of_camunda_or_marked_as_ours():
    known = {operation.endpoint for operation in rest_operations.operations()}
    own = set()
    for part in re.split(r"^- ", PAGE, flags=re.MULTILINE):
        named = documented(part)
        if "(Vivero)" in " ".join(part.split()) or "as in Camunda's connectors" in " ".join(part.split()):
            own |= {rest_operations.endpoint(*one.split(" ", 1)) for one in named}
    assert rest_operations.served() - known - own == set()


def test_the_list_names_no_operation_twice():
    operations = rest_operations.operations()
    assert (
        len({each.operation for each in operations}) == len({each.endpoint for each in operations}) == len(operations)
    )
    assert {each.since for each in operations} == {"", "8.9", "8.10"}
