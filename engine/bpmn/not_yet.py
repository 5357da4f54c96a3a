"""What the parser reads completely and the core does not run yet: one line a kind.

Deleting a line makes its kind deployable. Tests of what is being built name the kinds they need: `parse(…, enabled=…)`.
"""

from __future__ import annotations

from collections.abc import Mapping

NOT_EXECUTABLE_YET: Mapping[str, str] = {
    "calledDecision": "a called decision (zeebe:calledDecision) is not executable yet",
}

ALL_KINDS = frozenset(NOT_EXECUTABLE_YET)
"""For tests of the parser: with all of these enabled it refuses only what nobody reads."""
