"""The limits of texts that models, expressions and requests give alike.

Each value has one limit, wherever it comes from: what a model or an expression may create, a request can name. Sizes
are bytes of UTF-8 where PostgreSQL indexes the text (it limits an index row to a third of a page), else characters.
"""

from __future__ import annotations

import re

JOB_TYPE_BYTES = 1024
NAME_BYTES = 1024
"""The limit for a variable, an assignee, a candidate, a form."""
CANDIDATES = 1000
CANDIDATE_CHARACTERS = 100_000
"""The limit for all groups or all users of a user task together. Each name is an index entry."""
HIGHEST_TASK_PRIORITY = 100
TEXT_CHARACTERS = 32_768
"""The limit for the name of a message or signal, a correlation key, a message id, a code, an id from an expression."""
BUSINESS_ID_CHARACTERS = 256
TAGS = 10
TAG = re.compile(r"[A-Za-z][A-Za-z0-9_\-:.]{0,99}")
TENANT_ID_CHARACTERS = 31
TENANT_ID = re.compile(rf"<default>|[\w.-]{{1,{TENANT_ID_CHARACTERS}}}", re.ASCII)


def size(text: str) -> int:
    """The bytes of a text in UTF-8. A surrogate, which no text column can hold, has three."""
    return len(text) if text.isascii() else len(text.encode(errors="surrogatepass"))
