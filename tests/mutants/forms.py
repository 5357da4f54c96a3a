"""Mistakes about forms."""

from tests.mutants.mutant import Mutant, mutant

FORMS: tuple[Mutant, ...] = (
    mutant(
        "deployments: unchanged files keep their versions whatever they bind to",
        "tests/core/commands/test_bundles.py::test_files_that_were_deployed_one_by_one_get_a_version_together",
        "core/commands/catalogue.py",
        ("all(latest_versions) and not (bound and _is_another_bundle(latest_versions, view))", "all(latest_versions)"),
    ),
    mutant(
        "deployments: a part of a bundle is the bundle",
        "tests/core/commands/test_bundles.py::test_other_files_beside_it_are_another_bundle",
        "core/commands/catalogue.py",
        (" or len(view.resources_of(deployments.pop())) != len(versions)", ""),
    ),
    mutant(
        "forms: a deleted version stays the latest",
        "tests/core/elements/test_user_task.py::test_a_task_has_the_form_that_was_the_latest_when_it_was_created",
        "core/shared/bindings.py",
        ('for version in versions if version.state == "ACTIVE"]', "for version in versions]"),
    ),
    mutant(
        "forms: the version tag is not looked at",
        "tests/core/elements/test_user_task.py::test_the_binding_selects_the_version_of_a_form",
        "core/shared/bindings.py",
        ("if one.version_tag == version_tag]", "]"),
    ),
    mutant(
        "forms: an unchanged form in a new deployment keeps its version",
        "tests/core/commands/test_forms.py::test_a_deployment_with_something_new_makes_everything_in_it_new",
        "core/commands/catalogue.py",
        ("        if known is None or not nothing_new:\n", "        if known is None:\n"),
    ),
    mutant(
        "forms: those of another tenant can be deleted",
        "tests/core/commands/test_forms.py::test_a_form_of_another_tenant_cannot_be_deleted",
        "core/commands/catalogue.py",
        (' and form.state == "ACTIVE" and view.enter(form.tenant):', ' and form.state == "ACTIVE":'),
    ),
    mutant(
        "forms: other partitions do not hear of a deployment of forms",
        "tests/engine/test_several_partitions.py::test_the_latest_files_are_the_same_everywhere_at_once",
        "storage/state/save.py",
        ("(Definition, FormVersion, RequirementsVersion", "(Definition, RequirementsVersion"),
    ),
    mutant(
        "forms: the permission to delete processes is enough for forms",
        "tests/api/routes/test_forms.py::test_the_permission_to_delete_depends_on_what_it_is",
        "api/routes/resources.py",
        ("            return need\n", "            return DELETE_PROCESS\n"),
    ),
    mutant(
        "forms: a start form of any deployment",
        "tests/api/routes/test_forms.py::test_the_binding_selects_the_version_of_a_start_form",
        "storage/reads/single_reads.sql",
        (" OR f.deployment_key = d.deployment_key)", " OR true)"),
    ),
)
