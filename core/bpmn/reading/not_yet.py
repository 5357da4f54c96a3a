"""Kinds of elements that the parser reads completely and the core does not execute yet.

Deleting a line makes a kind deployable. Tests of unfinished kinds enable them: `parse(…, enabled=…)`.
"""

from __future__ import annotations

from collections.abc import Mapping

NOT_EXECUTABLE_YET: Mapping[str, str] = {
    "calledDecision": "a called decision (zeebe:calledDecision) is not executable yet",
}

ALL_KINDS = frozenset(NOT_EXECUTABLE_YET)
"""All kinds, for tests of the parser."""
