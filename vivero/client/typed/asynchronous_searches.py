"""The searches of the client, each with its filters. `make statements` writes them from the tables of searches."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, TypeVar, Unpack

from vivero.client.records.audit_logs import AuditLogFilter, AuditLogRecord, AuditLogSort
from vivero.client.records.authorizations import AuthorizationFilter, AuthorizationRecord, AuthorizationSort
from vivero.client.records.batch_operation_items import (
    BatchOperationItemFilter,
    BatchOperationItemRecord,
    BatchOperationItemSort,
)
from vivero.client.records.batch_operations import BatchOperationFilter, BatchOperationRecord, BatchOperationSort
from vivero.client.records.cluster_variables import ClusterVariableFilter, ClusterVariableRecord, ClusterVariableSort
from vivero.client.records.correlated_messages import (
    CorrelatedMessageFilter,
    CorrelatedMessageRecord,
    CorrelatedMessageSort,
)
from vivero.client.records.decision_definitions import (
    DecisionDefinitionFilter,
    DecisionDefinitionRecord,
    DecisionDefinitionSort,
)
from vivero.client.records.decision_instances import (
    DecisionInstanceFilter,
    DecisionInstanceRecord,
    DecisionInstanceSort,
)
from vivero.client.records.decision_requirements import (
    DecisionRequirementsFilter,
    DecisionRequirementsRecord,
    DecisionRequirementsSort,
)
from vivero.client.records.element_instances import ElementInstanceFilter, ElementInstanceRecord, ElementInstanceSort
from vivero.client.records.forms import FormFilter, FormRecord, FormSort
from vivero.client.records.generic_resources import GenericResourceFilter, GenericResourceRecord, GenericResourceSort
from vivero.client.records.global_task_listeners import (
    GlobalTaskListenerFilter,
    GlobalTaskListenerRecord,
    GlobalTaskListenerSort,
)
from vivero.client.records.groups import GroupFilter, GroupRecord, GroupSort
from vivero.client.records.incidents import IncidentFilter, IncidentRecord, IncidentSort
from vivero.client.records.jobs import JobFilter, JobRecord, JobSort
from vivero.client.records.mapping_rules import MappingRuleFilter, MappingRuleRecord, MappingRuleSort
from vivero.client.records.message_subscriptions import (
    MessageSubscriptionFilter,
    MessageSubscriptionRecord,
    MessageSubscriptionSort,
)
from vivero.client.records.messages import MessageFilter, MessageRecord, MessageSort
from vivero.client.records.model_drafts import ModelDraftFilter, ModelDraftRecord, ModelDraftSort
from vivero.client.records.process_definitions import (
    ProcessDefinitionFilter,
    ProcessDefinitionRecord,
    ProcessDefinitionSort,
)
from vivero.client.records.process_instances import ProcessInstanceFilter, ProcessInstanceRecord, ProcessInstanceSort
from vivero.client.records.roles import RoleFilter, RoleRecord, RoleSort
from vivero.client.records.tenants import TenantFilter, TenantRecord, TenantSort
from vivero.client.records.timers import TimerFilter, TimerRecord, TimerSort
from vivero.client.records.tokens import TokenFilter, TokenRecord, TokenSort
from vivero.client.records.user_tasks import UserTaskFilter, UserTaskRecord, UserTaskSort
from vivero.client.records.users import UserFilter, UserRecord, UserSort
from vivero.client.records.variables import VariableFilter, VariableRecord, VariableSort
from vivero.client.records.wait_states import WaitStateFilter, WaitStateRecord, WaitStateSort
from vivero.client.typed.asynchronous_paging import AsyncSearch
from vivero.client.typed.queries import DEFAULT_PAGE_ITEMS

R = TypeVar("R")


class AsyncSearches(ABC):
    """Searches: filters by name, `sort` by a field, and as many items per page as one request brings."""

    @abstractmethod
    def _search(
        self,
        path: str,
        record: type[R],
        filter: Mapping[str, Any],
        sort: str | None,
        descending: bool,
        page_items: int,
        of_tenants: bool,
    ) -> AsyncSearch[R]: ...

    def instances(
        self,
        *,
        sort: ProcessInstanceSort | None = None,
        descending: bool = False,
        page_items: int = DEFAULT_PAGE_ITEMS,
        **filter: Unpack[ProcessInstanceFilter],
    ) -> AsyncSearch[ProcessInstanceRecord]:
        """Search instances."""
        path = "/v2/process-instances/search"
        return self._search(path, ProcessInstanceRecord, filter, sort, descending, page_items, True)

    def tasks(
        self,
        *,
        sort: UserTaskSort | None = None,
        descending: bool = False,
        page_items: int = DEFAULT_PAGE_ITEMS,
        **filter: Unpack[UserTaskFilter],
    ) -> AsyncSearch[UserTaskRecord]:
        """Search tasks."""
        path = "/v2/user-tasks/search"
        return self._search(path, UserTaskRecord, filter, sort, descending, page_items, True)

    def incidents(
        self,
        *,
        sort: IncidentSort | None = None,
        descending: bool = False,
        page_items: int = DEFAULT_PAGE_ITEMS,
        **filter: Unpack[IncidentFilter],
    ) -> AsyncSearch[IncidentRecord]:
        """Search incidents."""
        path = "/v2/incidents/search"
        return self._search(path, IncidentRecord, filter, sort, descending, page_items, True)

    def jobs(
        self,
        *,
        sort: JobSort | None = None,
        descending: bool = False,
        page_items: int = DEFAULT_PAGE_ITEMS,
        **filter: Unpack[JobFilter],
    ) -> AsyncSearch[JobRecord]:
        """Search jobs."""
        path = "/v2/jobs/search"
        return self._search(path, JobRecord, filter, sort, descending, page_items, True)

    def variables(
        self,
        *,
        sort: VariableSort | None = None,
        descending: bool = False,
        page_items: int = DEFAULT_PAGE_ITEMS,
        **filter: Unpack[VariableFilter],
    ) -> AsyncSearch[VariableRecord]:
        """Search variables."""
        path = "/v2/variables/search?truncateValues=false"
        return self._search(path, VariableRecord, filter, sort, descending, page_items, True)

    def elements(
        self,
        *,
        sort: ElementInstanceSort | None = None,
        descending: bool = False,
        page_items: int = DEFAULT_PAGE_ITEMS,
        **filter: Unpack[ElementInstanceFilter],
    ) -> AsyncSearch[ElementInstanceRecord]:
        """Search elements."""
        path = "/v2/element-instances/search"
        return self._search(path, ElementInstanceRecord, filter, sort, descending, page_items, True)

    def wait_states(
        self,
        *,
        sort: WaitStateSort | None = None,
        descending: bool = False,
        page_items: int = DEFAULT_PAGE_ITEMS,
        **filter: Unpack[WaitStateFilter],
    ) -> AsyncSearch[WaitStateRecord]:
        """Search wait states."""
        path = "/v2/element-instances/wait-states/search"
        return self._search(path, WaitStateRecord, filter, sort, descending, page_items, True)

    def timers(
        self,
        *,
        sort: TimerSort | None = None,
        descending: bool = False,
        page_items: int = DEFAULT_PAGE_ITEMS,
        **filter: Unpack[TimerFilter],
    ) -> AsyncSearch[TimerRecord]:
        """Search timers."""
        path = "/v2/timers/search"
        return self._search(path, TimerRecord, filter, sort, descending, page_items, True)

    def definitions(
        self,
        *,
        sort: ProcessDefinitionSort | None = None,
        descending: bool = False,
        page_items: int = DEFAULT_PAGE_ITEMS,
        **filter: Unpack[ProcessDefinitionFilter],
    ) -> AsyncSearch[ProcessDefinitionRecord]:
        """Search definitions."""
        path = "/v2/process-definitions/search"
        return self._search(path, ProcessDefinitionRecord, filter, sort, descending, page_items, True)

    def decisions(
        self,
        *,
        sort: DecisionDefinitionSort | None = None,
        descending: bool = False,
        page_items: int = DEFAULT_PAGE_ITEMS,
        **filter: Unpack[DecisionDefinitionFilter],
    ) -> AsyncSearch[DecisionDefinitionRecord]:
        """Search decisions."""
        path = "/v2/decision-definitions/search"
        return self._search(path, DecisionDefinitionRecord, filter, sort, descending, page_items, True)

    def decision_requirements(
        self,
        *,
        sort: DecisionRequirementsSort | None = None,
        descending: bool = False,
        page_items: int = DEFAULT_PAGE_ITEMS,
        **filter: Unpack[DecisionRequirementsFilter],
    ) -> AsyncSearch[DecisionRequirementsRecord]:
        """Search decision requirements."""
        path = "/v2/decision-requirements/search"
        return self._search(path, DecisionRequirementsRecord, filter, sort, descending, page_items, True)

    def decision_instances(
        self,
        *,
        sort: DecisionInstanceSort | None = None,
        descending: bool = False,
        page_items: int = DEFAULT_PAGE_ITEMS,
        **filter: Unpack[DecisionInstanceFilter],
    ) -> AsyncSearch[DecisionInstanceRecord]:
        """Search decision instances."""
        path = "/v2/decision-instances/search"
        return self._search(path, DecisionInstanceRecord, filter, sort, descending, page_items, True)

    def forms(
        self,
        *,
        sort: FormSort | None = None,
        descending: bool = False,
        page_items: int = DEFAULT_PAGE_ITEMS,
        **filter: Unpack[FormFilter],
    ) -> AsyncSearch[FormRecord]:
        """Search forms."""
        path = "/v2/forms/search"
        return self._search(path, FormRecord, filter, sort, descending, page_items, True)

    def resources(
        self,
        *,
        sort: GenericResourceSort | None = None,
        descending: bool = False,
        page_items: int = DEFAULT_PAGE_ITEMS,
        **filter: Unpack[GenericResourceFilter],
    ) -> AsyncSearch[GenericResourceRecord]:
        """Search resources."""
        path = "/v2/resources/search"
        return self._search(path, GenericResourceRecord, filter, sort, descending, page_items, True)

    def messages(
        self,
        *,
        sort: MessageSort | None = None,
        descending: bool = False,
        page_items: int = DEFAULT_PAGE_ITEMS,
        **filter: Unpack[MessageFilter],
    ) -> AsyncSearch[MessageRecord]:
        """Search messages."""
        path = "/v2/messages/search"
        return self._search(path, MessageRecord, filter, sort, descending, page_items, True)

    def message_subscriptions(
        self,
        *,
        sort: MessageSubscriptionSort | None = None,
        descending: bool = False,
        page_items: int = DEFAULT_PAGE_ITEMS,
        **filter: Unpack[MessageSubscriptionFilter],
    ) -> AsyncSearch[MessageSubscriptionRecord]:
        """Search message subscriptions."""
        path = "/v2/message-subscriptions/search"
        return self._search(path, MessageSubscriptionRecord, filter, sort, descending, page_items, True)

    def correlated_messages(
        self,
        *,
        sort: CorrelatedMessageSort | None = None,
        descending: bool = False,
        page_items: int = DEFAULT_PAGE_ITEMS,
        **filter: Unpack[CorrelatedMessageFilter],
    ) -> AsyncSearch[CorrelatedMessageRecord]:
        """Search correlated messages."""
        path = "/v2/correlated-message-subscriptions/search"
        return self._search(path, CorrelatedMessageRecord, filter, sort, descending, page_items, True)

    def batch_operations(
        self,
        *,
        sort: BatchOperationSort | None = None,
        descending: bool = False,
        page_items: int = DEFAULT_PAGE_ITEMS,
        **filter: Unpack[BatchOperationFilter],
    ) -> AsyncSearch[BatchOperationRecord]:
        """Search batch operations."""
        path = "/v2/batch-operations/search"
        return self._search(path, BatchOperationRecord, filter, sort, descending, page_items, True)

    def batch_operation_items(
        self,
        *,
        sort: BatchOperationItemSort | None = None,
        descending: bool = False,
        page_items: int = DEFAULT_PAGE_ITEMS,
        **filter: Unpack[BatchOperationItemFilter],
    ) -> AsyncSearch[BatchOperationItemRecord]:
        """Search batch operation items."""
        path = "/v2/batch-operation-items/search"
        return self._search(path, BatchOperationItemRecord, filter, sort, descending, page_items, True)

    def audit_logs(
        self,
        *,
        sort: AuditLogSort | None = None,
        descending: bool = False,
        page_items: int = DEFAULT_PAGE_ITEMS,
        **filter: Unpack[AuditLogFilter],
    ) -> AsyncSearch[AuditLogRecord]:
        """Search audit logs."""
        path = "/v2/audit-logs/search"
        return self._search(path, AuditLogRecord, filter, sort, descending, page_items, True)

    def cluster_variables(
        self,
        *,
        sort: ClusterVariableSort | None = None,
        descending: bool = False,
        page_items: int = DEFAULT_PAGE_ITEMS,
        **filter: Unpack[ClusterVariableFilter],
    ) -> AsyncSearch[ClusterVariableRecord]:
        """Search cluster variables."""
        path = "/v2/cluster-variables/search?truncateValues=false"
        return self._search(path, ClusterVariableRecord, filter, sort, descending, page_items, True)

    def global_task_listeners(
        self,
        *,
        sort: GlobalTaskListenerSort | None = None,
        descending: bool = False,
        page_items: int = DEFAULT_PAGE_ITEMS,
        **filter: Unpack[GlobalTaskListenerFilter],
    ) -> AsyncSearch[GlobalTaskListenerRecord]:
        """Search global task listeners."""
        path = "/v2/global-task-listeners/search"
        return self._search(path, GlobalTaskListenerRecord, filter, sort, descending, page_items, False)

    def model_drafts(
        self,
        *,
        sort: ModelDraftSort | None = None,
        descending: bool = False,
        page_items: int = DEFAULT_PAGE_ITEMS,
        **filter: Unpack[ModelDraftFilter],
    ) -> AsyncSearch[ModelDraftRecord]:
        """Search model drafts."""
        path = "/v2/model-drafts/search"
        return self._search(path, ModelDraftRecord, filter, sort, descending, page_items, True)

    def users(
        self,
        *,
        sort: UserSort | None = None,
        descending: bool = False,
        page_items: int = DEFAULT_PAGE_ITEMS,
        **filter: Unpack[UserFilter],
    ) -> AsyncSearch[UserRecord]:
        """Search users."""
        path = "/v2/users/search"
        return self._search(path, UserRecord, filter, sort, descending, page_items, False)

    def groups(
        self,
        *,
        sort: GroupSort | None = None,
        descending: bool = False,
        page_items: int = DEFAULT_PAGE_ITEMS,
        **filter: Unpack[GroupFilter],
    ) -> AsyncSearch[GroupRecord]:
        """Search groups."""
        path = "/v2/groups/search"
        return self._search(path, GroupRecord, filter, sort, descending, page_items, False)

    def roles(
        self,
        *,
        sort: RoleSort | None = None,
        descending: bool = False,
        page_items: int = DEFAULT_PAGE_ITEMS,
        **filter: Unpack[RoleFilter],
    ) -> AsyncSearch[RoleRecord]:
        """Search roles."""
        path = "/v2/roles/search"
        return self._search(path, RoleRecord, filter, sort, descending, page_items, False)

    def tenants(
        self,
        *,
        sort: TenantSort | None = None,
        descending: bool = False,
        page_items: int = DEFAULT_PAGE_ITEMS,
        **filter: Unpack[TenantFilter],
    ) -> AsyncSearch[TenantRecord]:
        """Search tenants."""
        path = "/v2/tenants/search"
        return self._search(path, TenantRecord, filter, sort, descending, page_items, True)

    def mapping_rules(
        self,
        *,
        sort: MappingRuleSort | None = None,
        descending: bool = False,
        page_items: int = DEFAULT_PAGE_ITEMS,
        **filter: Unpack[MappingRuleFilter],
    ) -> AsyncSearch[MappingRuleRecord]:
        """Search mapping rules."""
        path = "/v2/mapping-rules/search"
        return self._search(path, MappingRuleRecord, filter, sort, descending, page_items, False)

    def tokens(
        self,
        *,
        sort: TokenSort | None = None,
        descending: bool = False,
        page_items: int = DEFAULT_PAGE_ITEMS,
        **filter: Unpack[TokenFilter],
    ) -> AsyncSearch[TokenRecord]:
        """Search tokens."""
        path = "/v2/tokens/search"
        return self._search(path, TokenRecord, filter, sort, descending, page_items, False)

    def authorizations(
        self,
        *,
        sort: AuthorizationSort | None = None,
        descending: bool = False,
        page_items: int = DEFAULT_PAGE_ITEMS,
        **filter: Unpack[AuthorizationFilter],
    ) -> AsyncSearch[AuthorizationRecord]:
        """Search authorizations."""
        path = "/v2/authorizations/search"
        return self._search(path, AuthorizationRecord, filter, sort, descending, page_items, False)
