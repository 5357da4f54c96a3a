"""The figures of the rounds of a run, as rows of a table."""

import math
import statistics
from dataclasses import dataclass, field

HEAD = ("fault", "injected", "bit", "hits", "median s", "p99 s", "longest s", "goal s", "met")


def p99(seconds):
    ordered = sorted(seconds)
    return ordered[math.ceil(len(ordered) * 0.99) - 1]


@dataclass
class Figure:
    """One fault: how often it was injected, how often it bit, and after how many seconds a new command was done."""

    name: str
    goal_s: float
    injected: int = 0
    bit: int = 0
    hits: int = 0
    seconds: list = field(default_factory=list)
    """The seconds of the rounds that bit."""

    def note(self, hits, seconds):
        self.injected += 1
        self.hits += hits
        if hits > 0:
            self.bit += 1
            self.seconds.append(seconds)

    def cells(self):
        if not self.seconds:
            return (self.name, self.injected, 0, 0, "", "", "", f"{self.goal_s:g}", "void")
        late = p99(self.seconds)
        times = (f"{each:.2f}" for each in (statistics.median(self.seconds), late, max(self.seconds)))
        return (
            self.name, self.injected, self.bit, self.hits, *times, f"{self.goal_s:g}",
            "yes" if late <= self.goal_s else "no",
        )  # fmt: skip


def table(figures):
    """As Markdown."""
    rows = [HEAD, *(figure.cells() for figure in figures)]
    widths = [max(len(str(row[column])) for row in rows) for column in range(len(HEAD))]
    lines = [
        "| " + " | ".join(str(cell).ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    return "\n".join([lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]])
