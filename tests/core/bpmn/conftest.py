"""Small BPMN files for the parser's tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from vivero.core.bpmn.parser import Parsed, parse

MODELS = Path(__file__).parents[2] / "models"

FILE = (
    '<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:bpmn="http://www.omg.org/spec/BPMN/20100524/MODEL"'
    ' xmlns:zeebe="http://camunda.org/schema/zeebe/1.0" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">{}</definitions>'
)


@pytest.fixture
def definitions() -> Callable[..., Parsed]:
    """Parse a file with this content in its `definitions`. The content begins in line 2."""

    def read(content: str) -> Parsed:
        return parse(FILE.format("\n" + content).encode(), "test.bpmn")

    return read


@pytest.fixture
def process(definitions) -> Callable[..., Parsed]:
    """Parse a file with one executable process `p` with this content. The content begins in line 2.

    `roots` stand behind the process, in the line after it.
    """

    def read(content: str, roots: str = "") -> Parsed:
        return definitions(f'<process id="p" isExecutable="true">{content}</process>\n{roots}')

    return read


@pytest.fixture
def models() -> Path:
    return MODELS


@pytest.fixture(params=sorted(path.name for path in MODELS.glob("*.bpmn")))
def model_file(request) -> Path:
    return MODELS / request.param
