"""A group of commands that suggests a command for a misspelt name, and an option for a misspelt option."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from difflib import SequenceMatcher

import click

LONGEST_SENTENCE = 200
"""Characters of a command's first sentence in the list of a group, which wraps."""
LEAST_LIKENESS = 0.6
"""The likeness of a word that is suggested, from 0 (nothing is equal) to 1 (everything is)."""
LIKE_THE_BEST = 0.1
"""A word that is less like the misspelt one than the best, by more than this, is not suggested."""
MOST_SUGGESTIONS = 3


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


@contextmanager
def suggested_options() -> Iterator[None]:
    """Let the error about an unknown option suggest the most similar ones. click sorts all similar ones by name."""
    try:
        yield
    except click.NoSuchOption as error:
        context = error.ctx
        known = [] if context is None else [each for one in context.command.get_params(context) for each in one.opts]
        found = suggestion(error.option_name, known)
        raise click.UsageError(f"{error.message} {found}".rstrip(), context) from error


def suggestion(word: str, known: list[str]) -> str:
    """A question that names the known words that are most like `word`, the best first; empty if none is."""
    likeness = sorted(((SequenceMatcher(None, each, word).ratio(), each) for each in known), reverse=True)
    least = max(LEAST_LIKENESS, likeness[0][0] - LIKE_THE_BEST) if likeness else LEAST_LIKENESS
    close = [each for ratio, each in likeness if ratio >= least]
    close += [each for each in known if each not in close and len(word) > 2 and each.startswith(word)]
    quoted = [f"'{each}'" for each in close[:MOST_SUGGESTIONS]]
    return f"Did you mean {' or '.join(quoted)}?" if quoted else ""
