"""A group of commands that suggests a command for a misspelt name."""

from __future__ import annotations

from difflib import get_close_matches

import click

LONGEST_SENTENCE = 200
"""Characters of a command's first sentence in the list of a group, which wraps."""


class Group(click.Group):
    """A group that says "did you mean" if there is no such command, and lists commands with their whole sentences."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            rows = [
                (name, command.get_short_help_str(LONGEST_SENTENCE))
                for name, command in commands
                if command is not None
            ]
            formatter.write_dl(rows)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            found = suggestion(args[0], self.list_commands(ctx))
            raise click.UsageError(f"{error.message} {found}".rstrip(), ctx) from error


def suggestion(word: str, known: list[str]) -> str:
    """A question that names the known words that are most like `word`; empty if none is."""
    close = get_close_matches(word, known, n=3, cutoff=0.6)
    close += [each for each in known if each not in close and len(word) > 2 and each.startswith(word)]
    quoted = [f"'{each}'" for each in close[:3]]
    return f"Did you mean {' or '.join(quoted)}?" if quoted else ""
