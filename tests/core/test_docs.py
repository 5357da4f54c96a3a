"""docs/core.md says what the tables say."""

from pathlib import Path

from vivero.core.execution.lifecycle import STAGES, TRANSITIONS

PAGE = Path(__file__).parents[2] / "docs" / "core.md"


def generated(name):
    """The part of the page that is made from a table."""
    return PAGE.read_text().split(f"<!-- generated from lifecycle.{name} -->\n")[1].split("<!-- end -->")[0]


def test_the_diagram_is_that_of_the_table():
    lines = ["```mermaid", "stateDiagram-v2", "    [*] --> ACTIVATING"]
    for state, following in TRANSITIONS.items():
        lines += [f"    {state} --> {other}" for other in following] or [f"    {state} --> [*]"]
    assert generated("TRANSITIONS") == "\n".join([*lines, "```", ""])


def test_the_stages_are_those_of_the_table():
    lines = ["| stage | in state | then |", "|---|---|---|"]
    for name, (state, _, following) in STAGES.items():
        lines.append(f"| `{name}` | {state} | `{following}` |" if following else f"| `{name}` | {state} | |")
    assert generated("STAGES") == "\n".join([*lines, ""])


def test_the_trace_is_one_that_was_seen():
    shown = PAGE.read_text().split("one line each, elements by their ids:\n\n```\n")[1].split("```")[0]
    golden = (Path(__file__).parent / "golden" / "one_task.txt").read_text()
    assert shown in golden
