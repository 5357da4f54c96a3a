"""The catalogue in memory: deployments, versions of what their files define, events that start processes."""

from __future__ import annotations

from typing import Annotated, Any

from vivero.core.records.user_tasks import GlobalListeners
from vivero.core.state.columns import CHANGES, TENANT, Column, Time
from vivero.core.state.instance_tree import Timer
from vivero.core.state.message_channels import Starts
from vivero.core.state.rows import Row


class Definition(Row):
    """A version of a process: a row of `process_definitions`."""

    deployment: Annotated[int, Column(stored="deployment_key", key=True)]
    tenant: Annotated[str, TENANT]
    process_id: str
    version: int
    name: str | None
    version_tag: str | None
    resource: Annotated[str, Column(stored="resource_name")]
    sha256: str
    state: Annotated[str, CHANGES]
    deployed_at: Time
    start_form_id: str | None = None
    start_form_binding: str | None = None
    start_form_version_tag: str | None = None
    retention_ms: Annotated[int | None, Column(large=True)] = None


class FormVersion(Row):
    """A version of a form: a row of `forms`."""

    deployment: Annotated[int, Column(stored="deployment_key", key=True)]
    tenant: Annotated[str, TENANT]
    form_id: str
    version: int
    version_tag: str | None
    resource: Annotated[str, Column(stored="resource_name")]
    sha256: str
    state: Annotated[str, CHANGES]
    deployed_at: Time


class GenericResourceVersion(Row):
    """A version of a generic resource, which is a file of any other kind: a row of `generic_resources`."""

    deployment: Annotated[int, Column(stored="deployment_key", key=True)]
    tenant: Annotated[str, TENANT]
    resource_id: str
    version: int
    version_tag: str | None
    resource: Annotated[str, Column(stored="resource_name")]
    sha256: str
    state: Annotated[str, CHANGES]
    deployed_at: Time


class RequirementsVersion(Row):
    """A version of decision requirements, which are the decisions of a file: a row of `decision_requirements`."""

    deployment: Annotated[int, Column(stored="deployment_key", key=True)]
    tenant: Annotated[str, TENANT]
    requirements_id: str
    version: int
    name: str
    resource: Annotated[str, Column(stored="resource_name")]
    sha256: str
    state: Annotated[str, CHANGES]
    deployed_at: Time


class DecisionVersion(Row):
    """A version of a decision: a row of `decision_definitions`. `sha256` and `imports` are the files that define it."""

    deployment: Annotated[int, Column(stored="deployment_key", key=True)]
    tenant: Annotated[str, TENANT]
    decision_id: str
    version: int
    name: str
    version_tag: str | None
    requirements: Annotated[int, Column(stored="decision_requirements_key", key=True)]
    sha256: str
    imports: tuple[str, ...]
    state: Annotated[str, CHANGES]
    deployed_at: Time

    @property
    def files(self) -> tuple[str, ...]:
        """The SHA-256 of its file and of those that it imports: the name of what is compiled from them."""
        return (self.sha256, *self.imports)


class Usage(Row):
    """The number of instances of a definition that run in this partition. `key` is that of the definition."""

    running: int


class Deployment(Row):
    tenant: Annotated[str, TENANT]
    deployed_at: Time


Family = dict[int, Definition]
"""All versions of one process id of a tenant, including deleted ones, whose numbers are not reused."""

FormVersions = dict[int, FormVersion]
"""All versions of one form id of a tenant, including deleted ones."""

GenericResourceVersions = dict[int, GenericResourceVersion]
"""All versions of one id of a generic resource of a tenant, including deleted ones."""

Deployed = Definition | FormVersion | RequirementsVersion | GenericResourceVersion
"""A version of what a file of a deployment defines."""


RequirementsVersions = dict[int, RequirementsVersion]
DecisionVersions = dict[int, DecisionVersion]
"""All versions of one id of a tenant, including deleted ones."""


class Catalogue:
    """The part of the catalogue that is in memory."""

    def __init__(self) -> None:
        self.families: dict[tuple[str, str], Family] = {}
        self.definitions: dict[int, Definition] = {}
        self.usage: dict[int, Usage] = {}
        self.form_versions: dict[tuple[str, str], FormVersions] = {}
        self.forms: dict[int, FormVersion] = {}
        self.generic_resource_versions: dict[tuple[str, str], GenericResourceVersions] = {}
        self.generic_resources: dict[int, GenericResourceVersion] = {}
        self.requirements_versions: dict[tuple[str, str], RequirementsVersions] = {}
        self.requirements: dict[int, RequirementsVersion] = {}
        self.decision_versions: dict[tuple[str, str], DecisionVersions] = {}
        self.decisions: dict[int, DecisionVersion] = {}
        self.deployments: dict[int, None] = {}
        """The keys of deployments of which all that their files define is in memory."""
        self.starts: Starts | None = None
        """Start events that wait for messages and signals; None until they are loaded."""
        self.unreadable: set[str] = set()
        """The hashes of deployed files that this version of the program cannot read any more."""
        self.task_listeners: dict[str, GlobalListeners] | None = None
        """The task listeners of the whole cluster, by event; None until they are loaded."""
        self.cluster_variables: dict[str, dict[str, Any]] = {}
        """The cluster variables that a tenant sees, as `camunda.vars` of expressions (`core.expressions`)."""
        self.variables_size = 0
        """The number of cluster variables, of which each counts once more for each KiB."""
        self.start_timers: dict[tuple[str, str], dict[int, Timer]] = {}
        """All timers that start a process, by tenant and process id, for every process in `families`."""

    @property
    def size(self) -> int:
        """The number of versions in memory, and the size of the cluster variables."""
        of_models = len(self.definitions) + len(self.requirements) + len(self.decisions)
        return of_models + len(self.forms) + len(self.generic_resources) + self.variables_size

    def clear(self) -> None:
        """Forget everything."""
        self.families.clear()
        self.definitions.clear()
        self.usage.clear()
        self.form_versions.clear()
        self.forms.clear()
        self.generic_resource_versions.clear()
        self.generic_resources.clear()
        self.requirements_versions.clear()
        self.requirements.clear()
        self.decision_versions.clear()
        self.decisions.clear()
        self.deployments.clear()
        self.start_timers.clear()
        self.starts = None
        self.task_listeners = None
        self.cluster_variables.clear()
        self.variables_size = 0
