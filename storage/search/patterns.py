"""The patterns of $like: `*` fits any run of characters, `?` any one, and `\\` takes the next character literally."""

from __future__ import annotations

from collections.abc import Iterator

from vivero.storage.search.problems import Invalid

MAX_PATTERN = 1000
"""Characters of the pattern of a $like."""

ANY_RUN, ANY_ONE = object(), object()


def pattern_tokens(pattern: str) -> Iterator[object]:
    """The characters of a pattern, with ANY_RUN for `*` and ANY_ONE for `?`. Raises Invalid: too long."""
    if len(pattern) > MAX_PATTERN:
        raise Invalid(f"The pattern of $like has {len(pattern)} characters but must not have more than {MAX_PATTERN}")
    characters = iter(pattern)
    for character in characters:
        if character == "\\":
            yield next(characters, "\\")
        else:
            yield {"*": ANY_RUN, "?": ANY_ONE}.get(character, character)


def like_pattern(pattern: str) -> str:
    """The pattern for SQL's LIKE."""
    return "".join(_like_token(token) for token in pattern_tokens(pattern))


def _like_token(token: object) -> str:
    if token is ANY_RUN:
        return "%"
    if token is ANY_ONE:
        return "_"
    return f"\\{token}" if token in ("%", "_", "\\") else str(token)


def matches(tokens: list[object], text: str) -> bool:
    """Whether a text fits a pattern. On a mismatch the last run takes one more character: quadratic at worst."""
    at = place = 0
    run, run_end = -1, 0
    while place < len(text):
        token = tokens[at] if at < len(tokens) else None
        if token is ANY_RUN:
            run, run_end = at, place
            at += 1
        elif token is ANY_ONE or token == text[place]:
            at, place = at + 1, place + 1
        elif run >= 0:
            run_end += 1
            at, place = run + 1, run_end
        else:
            return False
    return all(token is ANY_RUN for token in tokens[at:])
