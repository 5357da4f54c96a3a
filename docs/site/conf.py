"""Makes a site of these pages, which needs no network: `make docs` writes it to dist/docs.

The pages stay as they are read beside the code. While they are read, tables of contents are added, from the lists of
README.md and from the folders, and links to files that are not in the site become texts.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import Any

DOCS = Path(__file__).parents[1]

project = "Vivero"
author = copyright = "the maintainers of Vivero"
extensions = ["myst_parser"]
root_doc = "README"
exclude_patterns = ["site", "operations/chart"]
myst_heading_anchors = 4
# The pages of reference/ begin each member at the third level.
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
html_theme = "furo"
html_title = "Vivero"
html_show_sourcelink = False
html_copy_source = False

LINK = re.compile(r"(?<!!)\[((?:[^][]|\[[^]]*\])*)\]\(([^()\s]+)\)")
GROUP = re.compile(r"^\*\*(.+?)\*\*$\n+((?:^(?:- |  ).*$\n?)+)", re.MULTILINE)


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def read(_app: Any, name: str, source: list[str]) -> None:
    """Prepare the text of a page."""
    text = LINK.sub(lambda link: inside(PurePosixPath(name).parent, link), source[0])
    if name == root_doc:
        text += contents(source[0])
    elif name.endswith("/README"):
        text += toctree("", others(PurePosixPath(name).parent))
    source[0] = text


def inside(folder: PurePosixPath, link: re.Match[str]) -> str:
    """The link, or the text and the path in the repository if it leads out of the pages."""
    text, target = link.groups()
    path = target.partition("#")[0]
    if not path or ":" in path:
        return link[0]
    found = (DOCS / folder / path).resolve()
    if found.is_relative_to(DOCS) and (found.suffix != ".py" and found.is_file()):
        return link[0]
    return f"{text} (`{found.relative_to(DOCS.parent)}` in the repository)"


def contents(text: str) -> str:
    """Tables of contents from the groups of the first page, and one for the pages that it does not name."""
    named: set[str] = set()
    trees = []
    for title, lines in GROUP.findall(text):
        pages = [
            page
            for _text, target in LINK.findall(lines)
            if (page := target.partition("#")[0].removesuffix(".md")) != target.partition("#")[0] and page not in named
            if not page.startswith("..")
        ]
        named.update(pages)
        trees.append(toctree(title, list(dict.fromkeys(pages))))
    of_folders = {page for page in pages_below(DOCS) if (DOCS / page).with_name("README.md").exists() and "/" in page}
    more = sorted(
        set(pages_below(DOCS)) - named - {root_doc} - {page for page in of_folders if not page.endswith("/README")}
    )
    return "".join(trees) + toctree("More", more)


def others(folder: PurePosixPath) -> list[str]:
    """The pages beside a folder's README."""
    return sorted(path.stem for path in (DOCS / folder).glob("*.md") if path.stem != "README")


def pages_below(folder: Path) -> list[str]:
    return [str(path.relative_to(DOCS).with_suffix("")) for path in folder.rglob("*.md")]


def toctree(caption: str, pages: list[str]) -> str:
    head = f":caption: {caption}\n" if caption else ""
    return f"\n\n```{{toctree}}\n:hidden:\n{head}\n" + "\n".join(pages) + "\n```\n" if pages else ""
