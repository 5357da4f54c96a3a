"""Deployments and deletions of decisions: versions, what is unchanged, and the compiled decisions."""

import pytest

from tests.core.dmn.models import decision, definitions, literal
from tests.core.models import end, process, start
from vivero.core.dmn import evaluate
from vivero.core.dmn.compiling.linking import Key
from vivero.core.memory import InvalidDeployment
from vivero.core.needs import Need, NeedKind, NotLoaded
from vivero.core.records.catalogue import DeleteResource
from vivero.core.records.codec import decode_events, encode_events
from vivero.core.records.decisions import DecisionAdded, DecisionDeleted, RequirementsAdded, RequirementsDeleted
from vivero.core.records.effects import RejectionCode
from vivero.core.shared.bindings import bound


def file(id="graph", own="test", imports="", **decisions):
    """A file of decisions: id → FEEL."""
    content = imports + "".join(decision(name, literal(text)) for name, text in decisions.items())
    return definitions(content, own=own).replace(b'id="file" name="file"', f'id="{id}" name="Name of {id}"'.encode())


def deploy(engine, tenant="<default>", **files):
    """Deploy files, whose names end with `.dmn`."""
    return engine.memory.deploy_all({f"{name}.dmn": content for name, content in files.items()}, tenant)


def versions(reply):
    return [one.version for one in reply.requirements], [one.version for one in reply.decisions]


def events(engine, *types):
    return [event for handled in engine.memory.log[-1].handled for event in handled.events if isinstance(event, types)]


def latest(engine, decision_id, tenant="<default>"):
    return bound(engine.state.catalogue.decision_versions[tenant, decision_id].values(), "latest")


def test_a_file_is_one_version_of_requirements_and_of_each_decision(engine):
    reply = deploy(engine, f=file(a="1", b="2"))
    (requirements,), (first, second) = reply.requirements, reply.decisions
    assert requirements.decision_requirements_id == "graph"
    assert requirements.decision_requirements_name == "Name of graph"
    assert (requirements.version, requirements.resource_name, requirements.tenant_id) == (1, "f.dmn", "<default>")
    assert [one.decision_definition_id for one in (first, second)] == ["a", "b"]
    assert {one.decision_requirements_key for one in (first, second)} == {requirements.decision_requirements_key}
    added = events(engine, RequirementsAdded, DecisionAdded)
    assert list(decode_events(encode_events(added), 1)) == added


def test_a_row_has_everything_that_is_known_of_the_decision(engine):
    engine.memory.now = 7_000
    tagged = file(a="1").replace(
        b"<variable",
        b'<extensionElements><v:versionTag xmlns:v="http://camunda.org/schema/zeebe/1.0" value="v1"/>'
        b"</extensionElements><variable",
    )
    reply = deploy(engine, "t", f=tagged)
    rows = {kind: row for (kind, _), row in engine.rows.items() if kind in ("RequirementsVersion", "DecisionVersion")}
    shared = {"deployment": reply.deployment_key, "tenant": "t", "version": 1, "state": "ACTIVE", "deployed_at": 7_000}
    sha256 = rows["RequirementsVersion"]["sha256"]
    assert rows["RequirementsVersion"] == shared | {
        "key": reply.requirements[0].decision_requirements_key,
        "requirements_id": "graph",
        "name": "Name of graph",
        "resource": "f.dmn",
        "sha256": sha256,
    }
    assert rows["DecisionVersion"] == shared | {
        "key": reply.decisions[0].decision_definition_key,
        "decision_id": "a",
        "name": "a",
        "version_tag": "v1",
        "requirements": reply.requirements[0].decision_requirements_key,
        "sha256": sha256,
        "imports": (),
    }


def test_the_same_file_under_the_same_name_is_nothing_new(engine):
    first, again = (deploy(engine, f=file(a="1")) for _ in "12")
    assert (again.requirements, again.decisions) == (first.requirements, first.decisions)
    assert events(engine, RequirementsAdded, DecisionAdded) == []
    assert versions(deploy(engine, g=file(a="1"))) == ([2], [2])
    assert versions(deploy(engine, g=file(a="2"))) == ([3], [3])


def test_each_decision_counts_for_itself_in_each_tenant(engine):
    deploy(engine, f=file(a="1"))
    assert versions(deploy(engine, f=file(a="1", b="2"))) == ([2], [2, 1])
    assert versions(deploy(engine, "t", f=file(a="1", b="2"))) == ([1], [1, 1])


def test_a_decision_that_moved_into_another_file_goes_on_counting(engine):
    one = file("one", a="1", b="1")
    deploy(engine, one=one)
    assert versions(deploy(engine, two=file("two", a="2"))) == ([1], [2])
    assert versions(deploy(engine, one=one)) == ([2], [3, 2]), "the latest version of 'a' is no longer of this file"
    assert versions(deploy(engine, one=one)) == ([2], [3, 2])


def test_a_deployment_with_something_new_makes_everything_in_it_new(engine):
    files = {"f.dmn": file(a="1"), "p.bpmn": process(start(), end("e"), "start > e")}
    first = engine.memory.deploy_all(files)
    assert engine.memory.deploy_all(files).decisions == first.decisions
    changed = engine.memory.deploy_all(files | {"p.bpmn": process(start(), end("f"), "start > f")})
    assert versions(changed) == ([2], [2])
    assert [one.process_definition_version for one in changed.processes] == [2]


def test_deleting_the_requirements_deletes_the_decisions_and_the_version_before_is_the_latest(engine):
    first, second = (deploy(engine, f=file(a=text, b="1")) for text in "12")
    handled = engine.run(DeleteResource(second.requirements[0].decision_requirements_key))
    deleted = [DecisionDeleted(one.decision_definition_key) for one in second.decisions]
    assert list(handled.events) == [*deleted, RequirementsDeleted(second.requirements[0].decision_requirements_key)]
    assert latest(engine, "a").key == first.decisions[0].decision_definition_key
    assert deploy(engine, f=file(a="1", b="1")).decisions == first.decisions
    assert versions(deploy(engine, f=file(a="2", b="1"))) == ([3], [3, 3]), "a deleted version keeps its number"


def test_what_is_deleted_unknown_or_of_another_tenant_cannot_be_deleted(engine):
    key = deploy(engine, f=file(a="1")).requirements[0].decision_requirements_key
    assert engine.run(DeleteResource(key), "other").rejection.code is RejectionCode.NOT_FOUND
    assert engine.run(DeleteResource(key)).rejection is None
    assert engine.run(DeleteResource(key)).rejection.code is RejectionCode.NOT_FOUND
    assert latest(engine, "a") is None


def test_bindings_find_versions_of_decisions(engine):
    for text in "12":
        deploy(engine, f=file(a=text))
    found = engine.state.catalogue.decision_versions["<default>", "a"].values()
    assert bound(found, "latest").version == 2
    assert bound(found, "versionTag", "v1") is None
    engine.memory.deploy_all({"p.bpmn": process(start(), end("e"), "start > e"), "f.dmn": file(a="3")})
    (caller,) = engine.state.catalogue.definitions.values()
    deploy(engine, f=file(a="4"))
    assert bound(found, "deployment", None, caller).version == 3


def test_decisions_are_compiled_with_the_files_that_they_import(engine):
    imports = (
        '<import name="other" namespace="b" importType="https://www.omg.org/spec/DMN/20191111/MODEL/"/>'
        + decision("a", literal("other.b + 1")).replace(
            "<literal", '<informationRequirement><requiredDecision href="b#b"/></informationRequirement><literal'
        )
    )
    main, other = file("main", "a", imports), file("other", "b", b="1")
    deploy(engine, main=main, other=other)
    version = latest(engine, "a")
    assert (len(version.imports), latest(engine, "b").imports) == (1, ())
    compiled = engine.memory.processor.view.compiled(version)
    assert evaluate(compiled, Key(version.sha256, "a"), {}).value == 2
    deploy(engine, other=other, more=file("more", "c", c="1"))
    assert versions(deploy(engine, main=main, other=other)) == ([2, 3], [2, 3]), "it was deployed with others then"
    with pytest.raises(InvalidDeployment, match="no file of the deployment has the namespace 'b', which is imported"):
        deploy(engine, main=main)


def test_what_is_not_compiled_is_needed_and_what_cannot_be_is_none(engine):
    deploy(engine, f=file(a="1"))
    view, version = engine.memory.processor.view, latest(engine, "a")
    view.find_decisions = lambda _: None
    with pytest.raises(NotLoaded) as missing:
        view.compiled(version)
    assert missing.value.need == Need(NeedKind.DECISION_MODEL, version.key)
    engine.state.catalogue.unreadable.add(version.sha256)
    assert view.compiled(version) is None
