// The shapes of the API that the console reads: the fields it uses, under their names in the API.
type Nullable<T> = T | null;

export type SearchRequest = {
  filter?: Record<string, unknown>;
  sort?: { field: string; order: 'ASC' | 'DESC' }[];
  page?: { limit?: number; from?: number; after?: string; before?: string };
};
export type PageInfo = {
  totalItems: number;
  hasMoreTotalItems: boolean;
  startCursor: Nullable<string>;
  endCursor: Nullable<string>;
};
export type Page<T> = { items: T[]; page: PageInfo };

export type InstanceState = 'ACTIVE' | 'COMPLETED' | 'TERMINATED' | 'SUSPENDED';
export type Instance = {
  processInstanceKey: string;
  processDefinitionKey: string;
  processDefinitionId: string;
  processDefinitionName: Nullable<string>;
  processDefinitionVersion: number;
  processDefinitionVersionTag: Nullable<string>;
  startDate: string;
  endDate: Nullable<string>;
  suspendedDate: Nullable<string>;
  suspensionReason: Nullable<string>;
  dueDate: Nullable<string>;
  lateDate: Nullable<string>;
  state: InstanceState;
  hasIncident: boolean;
  parentProcessInstanceKey: Nullable<string>;
  parentElementInstanceKey: Nullable<string>;
  rootProcessInstanceKey: Nullable<string>;
  tags: string[];
  businessId: Nullable<string>;
  tenantId: string;
};
export type Definition = {
  processDefinitionKey: string;
  processDefinitionId: string;
  name: Nullable<string>;
  resourceName: string;
  version: number;
  versionTag: Nullable<string>;
  tenantId: string;
  hasStartForm: boolean;
  deploymentKey: string;
  deploymentDate: string;
  state: 'ACTIVE' | 'DRAINING' | 'DELETED';
};
/** A version of a process or of a decision. */
export type Versioned = Pick<Definition, 'version' | 'versionTag' | 'tenantId'>;
export type DecisionDefinition = {
  decisionDefinitionKey: string;
  decisionDefinitionId: string;
  name: string;
  version: number;
  versionTag: Nullable<string>;
  tenantId: string;
  decisionRequirementsKey: string;
  decisionRequirementsId: string;
  decisionRequirementsName: string;
  decisionRequirementsVersion: number;
};
/** Among a bounded number of kept decision instances. `hasMore`: there are others. */
export type EvaluationCount = { decisionInstances: number; failed: number; hasMore: boolean };
export type RuleCounts = EvaluationCount & {
  withoutAllRules: number;
  rules: { ruleIndex: number; matches: number }[];
};
export type EvaluatedInput = { inputName: string; inputValue: string };
export type MatchedRule = {
  ruleId: string;
  ruleIndex: number;
  evaluatedOutputs: { outputName: string; outputValue: string }[];
};
export type DecisionInstance = {
  decisionEvaluationInstanceKey: string;
  decisionEvaluationKey: string;
  state: 'EVALUATED' | 'FAILED';
  evaluationDate: string;
  evaluationFailure: Nullable<string>;
  decisionDefinitionId: string;
  decisionDefinitionKey: string;
  decisionDefinitionName: string;
  decisionDefinitionVersion: number;
  decisionDefinitionType: string;
  rootDecisionDefinitionKey: string;
  processInstanceKey: Nullable<string>;
  elementInstanceKey: Nullable<string>;
  businessId: Nullable<string>;
  tenantId: string;
  result: string;
  /** Only in the answer for a single one. */
  evaluatedInputs?: EvaluatedInput[];
  matchedRules?: MatchedRule[];
};
/** The answer of an evaluation. */
export type Evaluation = {
  output: string;
  failureMessage: Nullable<string>;
  failedDecisionDefinitionId: Nullable<string>;
  evaluatedDecisions: {
    decisionDefinitionId: string;
    decisionDefinitionName: string;
    decisionEvaluationInstanceKey: string;
    output: string;
    evaluatedInputs: EvaluatedInput[];
    matchedRules: MatchedRule[];
  }[];
};
export type Incident = {
  incidentKey: string;
  processInstanceKey: string;
  processDefinitionKey: string;
  processDefinitionId: string;
  elementInstanceKey: string;
  elementId: string;
  errorType: string;
  errorMessage: string;
  causeHashCode: number;
  creationTime: string;
  state: 'ACTIVE' | 'RESOLVED' | 'PENDING';
  jobKey: Nullable<string>;
  tenantId: string;
};
export type Batch = {
  batchOperationKey: string;
  batchOperationType: string;
  state: string;
  startDate: Nullable<string>;
  endDate: Nullable<string>;
  actorId: Nullable<string>;
  operationsTotalCount: number;
  operationsCompletedCount: number;
  operationsFailedCount: number;
  operationsSkippedCount: number;
  operationsCanceledCount: number;
  errors: { message: string }[];
};
export type BatchItem = {
  itemKey: string;
  processInstanceKey: Nullable<string>;
  state: string;
  processedDate: Nullable<string>;
  errorMessage: Nullable<string>;
};
export type Job = {
  jobKey: string;
  type: string;
  worker: string;
  state: string;
  retries: number;
  kind: string;
  listenerEventType: string;
  elementId: string;
  elementInstanceKey: string;
  processInstanceKey: string;
  processDefinitionId: string;
  deadline: Nullable<string>;
  errorMessage: Nullable<string>;
  errorCode: Nullable<string>;
  isDenied?: Nullable<boolean>;
  deniedReason?: Nullable<string>;
  creationTime: Nullable<string>;
  endTime: Nullable<string>;
  customHeaders: Record<string, string>;
};
export type Variable = {
  variableKey: string;
  name: string;
  value: string;
  scopeKey: string;
  processInstanceKey: string;
  isTruncated?: boolean;
};
export type ElementInstance = {
  elementInstanceKey: string;
  processInstanceKey: string;
  processDefinitionId: string;
  elementId: string;
  elementName: string;
  type: string;
  state: 'ACTIVE' | 'COMPLETED' | 'TERMINATED';
  startDate: string;
  endDate: Nullable<string>;
  hasIncident: boolean;
  incidentKey: Nullable<string>;
};
export type UserTask = {
  userTaskKey: string;
  name: Nullable<string>;
  elementId: string;
  elementInstanceKey: string;
  state: string;
  assignee: Nullable<string>;
  candidateGroups: string[];
  candidateUsers: string[];
  creationDate: string;
  dueDate: Nullable<string>;
  followUpDate: Nullable<string>;
  completionDate: Nullable<string>;
  priority: number;
  processInstanceKey: string;
  processDefinitionKey: string;
  processDefinitionId: string;
  processName: Nullable<string>;
  tenantId: string;
  businessId: Nullable<string>;
  formKey: Nullable<string>;
  customHeaders: Record<string, string>;
};
export type Timer = {
  timerKey: string;
  type: string;
  state: string;
  dueDate: string;
  repetitions: Nullable<number>;
  elementId: string;
  elementInstanceKey: Nullable<string>;
  processInstanceKey: Nullable<string>;
  processDefinitionId: string;
  processDefinitionKey: string;
};
export type Subscription = {
  messageSubscriptionKey: string;
  messageName: string;
  correlationKey: Nullable<string>;
  messageSubscriptionState: string;
  messageSubscriptionType: string;
  elementId: string;
  elementInstanceKey: Nullable<string>;
  processInstanceKey: Nullable<string>;
  processDefinitionId: string;
  lastUpdatedDate: string;
};
type Counts = {
  activeInstancesWithoutIncidentCount: number;
  activeInstancesWithIncidentCount: number;
  suspendedInstancesCount: number;
};
export type ProcessCount = Counts & { processDefinitionId: string; tenantId: string };
export type VersionCount = Counts & { processDefinitionKey: string };
/** The number of incidents of a cause that are active at an element; the rest is about the newest of them. */
export type CauseCount = {
  causeHashCode: number;
  processDefinitionId: string;
  tenantId: string;
  elementId: string;
  errorType: string;
  errorMessage: string;
  activeIncidentsCount: number;
  incidentKey: string;
  processInstanceKey: string;
  jobKey: Nullable<string>;
  creationTime: string;
};
export type Durations = { completed: number; meanMs: number; medianMs: number; percentile95Ms: number };
export type Statistics = { elementId: string; active: number; canceled: number; incidents: number; completed: number };
export type Flow = { elementId: string };
export type CallHierarchy = { processInstanceKey: string; processDefinitionKey: string; processDefinitionName: string };
export type Form = { formId: string; formKey: string; schema: string; version: number; tenantId: string };
export type User = {
  username: string;
  displayName: Nullable<string>;
  groups: string[];
  roles: string[];
  canLogout: boolean;
  authorizedComponents: string[];
  tenants: { tenantId: string; name: Nullable<string> }[];
};

/** An event of the log. Its other fields depend on its type. */
export type LogEvent = { type: string } & Record<string, unknown>;
/** `change`: the intent of the command inside of a conditional one (`If-Match`). `requestPosition`: an earlier command,
 * from which the events follow, and whose intent the item has. */
export type LogItem = {
  commandPosition: string;
  requestPosition: Nullable<string>;
  at: string;
  intent: Nullable<string>;
  change: Nullable<string>;
  events: LogEvent[];
};
export type History = { items: LogItem[]; next: Nullable<string> };
export type CommandStatus = {
  commandPosition: string;
  partitionId: number;
  intent: string;
  change?: Nullable<string>;
  key: Nullable<string>;
  status: 'PENDING' | 'PROCESSED' | 'REJECTED';
  appendedAt: string;
  processedAt: Nullable<string>;
  rejection: Nullable<{ code: string; reason: string }>;
  events: (LogEvent & { seq: number; at: string })[];
};
