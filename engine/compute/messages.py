"""The messages between the program and a compute process: pickles, each after its length."""

from __future__ import annotations

import pickle
import struct
from collections.abc import Callable
from enum import StrEnum
from typing import Any, NamedTuple

HEAD = struct.Struct("!Q")


class Begin(NamedTuple):
    """The first message to a compute process: its limits."""

    nice: int
    memory_bytes: int
    cpu_s: int
    """For one task."""


class Task(NamedTuple):
    """To a compute process: call a function of a module, which the process imports."""

    work: Callable[..., Any]
    arguments: tuple[Any, ...]


class TaskEnd(StrEnum):
    """The end of a task."""

    DONE = "done"
    FAILED = "failed"
    OUT_OF_MEMORY = "out of memory"


class TaskAnswer(NamedTuple):
    """From a compute process. `result` is that of the function, or the traceback of its exception."""

    end: TaskEnd
    result: Any


def encode(message: Begin | Task | TaskAnswer) -> bytes:
    """A message with its length. Large parts of bytes are copied once."""
    body = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return HEAD.pack(len(body)) + body


def decode(body: bytes | bytearray) -> Any:
    """The message of a body. Both ends are processes of one program, which no client can write to."""
    return pickle.loads(body)
