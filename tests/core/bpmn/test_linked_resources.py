"""`zeebe:linkedResources` of service tasks: what is read, and what is wrong."""

import pytest

from tests.core.models import process, start
from vivero.core.bpmn.elements.linked_resources import MOST_LINKS
from vivero.core.bpmn.parser import parse

WHOLE = '<zeebe:linkedResource resourceId="robot" resourceType="RPA" {}/>'


def task(links, tag="serviceTask"):
    return (
        f'<{tag} id="work"><extensionElements><zeebe:taskDefinition type="w"/><zeebe:linkedResources>{links}'
        f"</zeebe:linkedResources></extensionElements></{tag}>"
    )


def read(links, tag="serviceTask"):
    return parse(process(start(), task(links, tag), "start > work"), "p.bpmn")


def links_of(parsed):
    (model,) = parsed.processes
    return [
        (link.resource_id.text, link.type, link.binding, link.version_tag, link.link_name)
        for link in model.nodes["work"].job.links
    ]


def test_links_are_read_in_their_order():
    links = WHOLE.format('linkName="a"') + (
        '<zeebe:linkedResource resourceId="=id" resourceType="form" bindingType="versionTag" versionTag="v1"/>'
    )
    parsed = read(links)
    assert links_of(parsed) == [
        ("robot", "RPA", "latest", None, "a"),
        ("id", "form", "versionTag", "v1", None),
    ]
    assert not parsed.warnings
    assert links_of(read("")) == []


@pytest.mark.parametrize(("binding", "bound"), [("latest", False), ("deployment", True)])
def test_a_process_that_links_within_its_deployment_binds_by_deployment(binding, bound):
    (model,) = read(WHOLE.format(f'bindingType="{binding}"')).processes
    assert model.binds_by_deployment == bound


@pytest.mark.parametrize("binding", ["latest", "deployment"])
def test_a_version_tag_without_its_binding_is_a_warning(binding):
    parsed = read(WHOLE.format(f'bindingType="{binding}" versionTag="v1"'))
    assert [each.message for each in parsed.warnings] == [f"a versionTag has no effect with bindingType='{binding}'"]
    assert links_of(parsed) == [("robot", "RPA", binding, None, None)]


@pytest.mark.parametrize(
    ("links", "message"),
    [
        ('<zeebe:linkedResource resourceType="RPA"/>', "zeebe:linkedResource needs a resourceId"),
        ('<zeebe:linkedResource resourceId="a" resourceType=" "/>', "zeebe:linkedResource needs a resourceType"),
        (WHOLE.format('bindingType="newest"'), "'newest' is none of latest, deployment, versionTag"),
        (WHOLE.format('bindingType="versionTag"'), "bindingType='versionTag' needs a versionTag"),
        (WHOLE.replace("robot", "=1 +").format(""), "resourceId"),
        (WHOLE.format("") * (MOST_LINKS + 1), f"at most {MOST_LINKS} are possible"),
    ],
)
def test_what_is_wrong_is_a_problem_of_the_task(links, message):
    parsed = read(links)
    assert [each.element_id for each in parsed.problems] == ["work"]
    assert message in parsed.problems[0].message


def test_other_tasks_do_not_link():
    """Camunda deploys them, too, and gives their workers nothing."""
    parsed = read(WHOLE.format(""), "sendTask")
    assert [each.message for each in parsed.warnings] == ["zeebe:linkedResources has no effect on this element"]
    assert links_of(parsed) == []
