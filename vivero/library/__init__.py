"""The engine as a library: functions from a JSON document to a JSON document, without a database (docs/library.md).

A snapshot holds one instance with everything that it calls. The caller stores it, wherever JSON can be stored. The same
arguments give the same result: there is no clock and no randomness.

Entry: `Models`, `start`, `complete`.
Imports: core.
"""

from vivero.core.snapshots.codec import InvalidSnapshot
from vivero.library.decisions import DecisionFailed, DecisionModels
from vivero.library.functions import (
    activate,
    advance,
    assign,
    broadcast,
    cancel,
    complete,
    complete_user_task,
    decide,
    deny,
    fail,
    publish,
    resolve,
    set_variables,
    start,
    throw_error,
)
from vivero.library.machine import MissingModel, Rejected, TooMuchWork
from vivero.library.models import InvalidModel, Models
from vivero.library.operations import assign_business_id, migrate, modify, resume, suspend, undo
from vivero.library.overview import Element, Incident, Instance, Job, Timer, UserTask, Wait, read
from vivero.library.result import Happened, Result, ThrownMessage, ThrownSignal
from vivero.library.undos import UndoOffer

__all__ = [
    "DecisionFailed",
    "DecisionModels",
    "Element",
    "Happened",
    "Incident",
    "Instance",
    "InvalidModel",
    "InvalidSnapshot",
    "Job",
    "MissingModel",
    "Models",
    "Rejected",
    "Result",
    "ThrownMessage",
    "ThrownSignal",
    "Timer",
    "TooMuchWork",
    "UndoOffer",
    "UserTask",
    "Wait",
    "activate",
    "advance",
    "assign",
    "assign_business_id",
    "broadcast",
    "cancel",
    "complete",
    "complete_user_task",
    "decide",
    "deny",
    "fail",
    "migrate",
    "modify",
    "publish",
    "read",
    "resolve",
    "resume",
    "set_variables",
    "start",
    "suspend",
    "throw_error",
    "undo",
]
