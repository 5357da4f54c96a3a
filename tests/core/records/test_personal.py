"""Every field of an event that may hold a person's data has an entry: a new one without it fails here."""

import msgspec
import pytest
from msgspec import inspect

from vivero.core.records.codec import EVENTS
from vivero.core.records.conditionals import ConditionalsEvaluated
from vivero.core.records.messages import MessagePublished, StartClosed
from vivero.core.records.personal import FREE, NAMES, channel_of, emptied
from vivero.core.records.signals import SignalBroadcast

OF_CHANNELS = {*FREE, *NAMES}
OF_TREES = {
    *("InstanceCreated", "ElementActivating", "ElementCompleted", "ElementTerminating"),
    *("EventTriggered", "EventDefinitionOccurred"),
    *(
        "ScopeInterrupted",
        "AdHocActivationsAdded",
        "AdHocOutputAdded",
        "AdHocSecretsLocated",
        "AdHocToolApproved",
        "LoopStarted",
        "ItemCollected",
        "LoopResultSet",
        "WorkDeferred",
        "WorkResumed",
    ),
    *("AdHocActivationsAdded", "AdHocOutputAdded", "InstanceModified", "ElementRestored"),
    *("VariableSet", "IncidentRaised", "JobCreated", "JobFailed", "JobErrorThrown"),
    *(
        "CompensationRegistered",
        "CompensationStarted",
        "ComplexGatewayReset",
        "ComplexGatewayStarted",
        "SubscriptionOpened",
        "MessageReceived",
        "UserTaskCreated",
        "UserTaskChanged",
        "UserTaskEnded",
    ),
    *("UserTaskChanging", "UserTaskDenied", "JobDenied", "InstanceMigrated", "ElementsRenamed", "BusinessIdAssigned"),
    *("InstanceSuspended", "InstanceResumed", "WorkSuspended"),
}
"""Events with texts that change an instance tree: the row of the log has its root, and is emptied whole."""
OF_MODELS = {
    *(
        "DeploymentCreated",
        "DefinitionAdded",
        "StartFormSet",
        "FormAdded",
        "GenericResourceAdded",
        "RequirementsAdded",
        "DecisionAdded",
        "StartOpened",
        "StartDescribed",
        "TimerScheduled",
    ),
}
"""Their texts come from files that were deployed."""
OF_PROGRAM = {"tenant", "process_id", "element"}
"""Texts that an operator or a model has named."""


def has_texts(kind):
    """Whether a value of this type may have a text that a client chose."""
    if isinstance(kind, inspect.StrType | inspect.AnyType | inspect.RawType | inspect.DictType | inspect.StructType):
        return True
    if isinstance(kind, inspect.UnionType):
        return any(map(has_texts, kind.types))
    if isinstance(kind, inspect.TupleType):
        return any(map(has_texts, kind.item_types))
    return isinstance(kind, inspect.VarTupleType | inspect.ListType) and has_texts(kind.item_type)


def texts_of(event):
    info = inspect.type_info(event)
    assert isinstance(info, inspect.StructType)
    return {field.name for field in info.fields if has_texts(field.type)}


def test_each_event_with_texts_has_one_place():
    places = ({event.__name__ for event in OF_CHANNELS}, OF_TREES, OF_MODELS)
    named = {event.__name__ for event in EVENTS if texts_of(event)}
    assert named == set().union(*places)
    assert sum(map(len, places)) == len(named)


@pytest.mark.parametrize("event", sorted(OF_CHANNELS, key=str), ids=lambda event: event.__name__)
def test_each_text_of_an_event_of_no_tree_is_emptied_or_a_name(event):
    known = {*FREE.get(event, ()), *NAMES.get(event, ())}
    assert known <= set(event.__struct_fields__)
    assert texts_of(event) - OF_PROGRAM == known


def test_an_emptied_event_has_names_and_keys_only():
    published = MessagePublished(7, "t", "n", "k", "id", 5, {"x": "1"}, "b")
    assert emptied(published) == MessagePublished(7, "t", "n", "k", None, 5)
    assert emptied(SignalBroadcast(7, "n", {"x": "1"})) == SignalBroadcast(7, "n")
    assert emptied(ConditionalsEvaluated(7, {"x": "1"})) == ConditionalsEvaluated(7)
    assert emptied(StartClosed(7)) == StartClosed(7)
    assert [channel_of(each) for each in (published, SignalBroadcast(7, "n"))] == [("t", "k"), None]
    assert msgspec.json.decode(msgspec.json.encode(emptied(published)))[0] == "MessagePublished"
