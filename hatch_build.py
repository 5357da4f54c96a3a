"""A build hook: packages carry the console if it was built."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

TARGETS = {"wheel": "vivero/console", "sdist": "console/dist"}


class ConsoleHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds `console/dist` to a wheel, where `console_files` finds it, and to a source distribution."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before a build. An editable installation finds the folder itself."""
        built = Path(self.root) / "console" / "dist"
        if version != "editable" and (built / "index.html").is_file():
            build_data["force_include"][str(built)] = TARGETS[self.target_name]
