"""Mistakes about generic resources and the links of service tasks to them."""

from tests.mutants.mutant import Mutant, mutant

RESOURCES: tuple[Mutant, ...] = (
    mutant(
        "resources: a linked resource of any tenant",
        "tests/core/elements/test_linked_resources.py::test_what_is_not_deployed_is_an_incident_until_it_is",
        "core/shared/linked_resources.py",
        (
            "resources = view.generic_resource_versions(id, tenant).values()",
            "resources = view.state.catalogue.generic_resources.values()",
        ),
    ),
    mutant(
        "resources: a link takes the latest version whatever its binding",
        "tests/core/elements/test_linked_resources.py::test_the_binding_selects_the_version",
        "core/shared/linked_resources.py",
        (
            "resource = bound(resources, link.binding, link.version_tag, caller)",
            'resource = bound(resources, "latest")',
        ),
    ),
    mutant(
        "resources: those of another tenant can be deleted",
        "tests/core/commands/test_generic_resources.py::test_the_file_of_another_tenant_cannot_be_deleted",
        "core/commands/catalogue.py",
        (' and generic.state == "ACTIVE" and view.enter(generic.tenant):', ' and generic.state == "ACTIVE":'),
    ),
    mutant(
        "resources: an unchanged file in a new deployment keeps its version",
        "tests/core/commands/test_generic_resources.py::test_a_deployment_with_something_new_makes_everything_in_it_new",
        "core/commands/catalogue.py",
        ("generic, same_as if nothing_new else None, deployment", "generic, same_as, deployment"),
    ),
    mutant(
        "resources: other partitions do not hear of a deployment of files",
        "tests/engine/test_several_partitions.py::test_the_latest_files_are_the_same_everywhere_at_once",
        "storage/state/save.py",
        ("DecisionVersion, GenericResourceVersion))", "DecisionVersion))"),
    ),
    mutant(
        "resources: a browser shows a file",
        "tests/api/routes/test_resources.py::test_a_file_is_saved_and_never_shown",
        "api/routes/resources.py",
        ('((b"content-type", content_type), disposition(name), *SAFE)', '((b"content-type", content_type),)'),
    ),
)
