// Pure: the state of a process instance after a prefix of its events, as the engine had it at that time.
import type { Mark, Marks } from '../diagram/marks.ts';
import type { History, LogEvent } from '../lib/shapes.ts';

/** An event in its place: `position` and `at` are its command's. A step of type `Command` is the command itself. */
export type Step = { position: string; at: string; event: LogEvent };
type State = 'active' | 'completed' | 'canceled';
/** `above`: the scope, or for a called instance its call activity. `open`: incidents of the element and of all below it. */
export type Element = {
  key: string;
  id: string;
  instance: string;
  above: string | null;
  kind: string;
  state: State;
  open: number;
};
export type FoldedVariable = { name: string; value: string; scope: string; fresh: boolean };
export type FoldedIncident = { key: string; element: string; elementId: string; type: string; message: string };
/** A completed activity that can be compensated. `handler`: what undoes it, or did; `thrower`: the element that waits. */
export type FoldedCompensation = {
  key: string;
  instance: string;
  activity: string;
  handler: Element | null;
  thrower: string | null;
};
/** `definition`: the key of the definition that the instance runs by; null if no event tells. */
export type View = {
  definition: string | null;
  marks: Marks;
  elements: Map<string, Element>;
  variables: Map<string, FoldedVariable>;
  incidents: Map<string, FoldedIncident>;
  compensations: Map<string, FoldedCompensation>;
};

export function stepsOf(history: History): Step[] {
  return history.items.flatMap(({ commandPosition: position, at, intent, change, events }) => [
    ...(intent ? [{ position, at, event: { type: 'Command', intent, change } as LogEvent }] : []),
    ...events.map((event) => ({ position, at, event })),
  ]);
}

/** Operations of people that can be undone, as events. */
const OPERATIONS = new Set([
  ...['InstanceModified', 'InstanceMigrated', 'InstanceSuspended', 'InstanceResumed'],
  'BusinessIdAssigned',
]);

/** Whether the latest command was such an operation. */
export const endsWithOperation = (steps: readonly Step[]): boolean => {
  const last = steps.at(-1)?.position;
  return steps.findLast((step) => step.position !== last || OPERATIONS.has(step.event.type))?.position === last;
};

type Draft = {
  instance: string;
  definition: string | null;
  flows: Set<string>;
  elements: Map<string, Element>;
  variables: Map<string, FoldedVariable>;
  incidents: Map<string, FoldedIncident>;
  /** By the key of the registration, those that began last at the end. */
  compensations: Map<string, FoldedCompensation>;
  /** The results of loops by the key of their body, as JSON texts. */
  results: Map<string, string[]>;
};
const text = (value: unknown): string => String(value);

/** Change the number of open incidents of an element and of all above it. */
function addOpen(draft: Draft, key: string, by: number): void {
  for (
    let element = draft.elements.get(key);
    element;
    element = element.above === null ? undefined : draft.elements.get(element.above)
  )
    element.open += by;
}

function drop(draft: Draft, incident: FoldedIncident): void {
  draft.incidents.delete(incident.key);
  addOpen(draft, incident.element, -1);
}

function leave(draft: Draft, key: string, state: State): void {
  const element = draft.elements.get(key);
  if (!element) return;
  element.state = state;
  if (element.open)
    for (const incident of [...draft.incidents.values()]) if (incident.element === key) drop(draft, incident);
}

function setVariable(draft: Draft, event: LogEvent, value: string): void {
  const scope = text(event.scope);
  const name = text(event.name);
  draft.variables.set(`${scope}/${name}`, { name, value, scope, fresh: false });
}

/** The number of items of a loop that starts. The event has them, or says which variable has them. */
function sizeOf(draft: Draft, event: LogEvent): number {
  if (event.variable == null) return (event.items as unknown[]).length;
  const [scope, name] = event.variable as [string, string];
  return (JSON.parse(draft.variables.get(`${scope}/${name}`)?.value ?? '[]') as unknown[]).length;
}

const APPLY: Record<string, (draft: Draft, event: LogEvent) => void> = {
  InstanceCreated(draft, event) {
    const key = text(event.key);
    const above = event.parent == null ? null : text(event.parent);
    if (key === draft.instance) draft.definition = text(event.definitionKey);
    draft.elements.set(key, {
      key,
      id: text(event.processId),
      instance: key,
      above,
      kind: 'PROCESS',
      state: 'active',
      open: 0,
    });
  },
  ElementActivating(draft, event) {
    const key = text(event.key);
    const above = text(event.scope);
    const instance = draft.elements.get(above)?.instance ?? above;
    draft.elements.set(key, {
      key,
      id: text(event.element),
      instance,
      above,
      kind: text(event.subjectType),
      state: 'active',
      open: 0,
    });
  },
  ElementRestored(draft, event) {
    APPLY.ElementActivating?.(draft, event);
    const scope = text(event.key);
    for (const [, name, value] of event.variables as [string, string, string][])
      setVariable(draft, { ...event, scope, name }, value);
    const results = (event.loop as unknown[][] | null)?.[4]?.map((item) => (item as string[])[1] ?? 'null');
    if (results) draft.results.set(scope, results);
  },
  ElementCompleted(draft, event) {
    const key = text(event.key);
    if (draft.elements.get(key)?.instance === draft.instance)
      for (const flow of (event.flows as string[] | undefined) ?? []) draft.flows.add(flow);
    leave(draft, key, 'completed');
  },
  ElementTerminated(draft, event) {
    leave(draft, text(event.key), 'canceled');
  },
  InstanceMigrated(draft, event) {
    const ids = event.ids as Record<string, string>;
    const instance = text(event.key);
    if (instance === draft.instance) draft.definition = text(event.definitionKey);
    for (const element of draft.elements.values()) {
      if (element.instance !== instance || element.state !== 'active') continue;
      element.id = element.key === instance ? text(event.processId) : (ids[element.id] ?? element.id);
    }
    for (const incident of draft.incidents.values())
      incident.elementId = draft.elements.get(incident.element)?.id ?? incident.elementId;
    for (const one of draft.compensations.values())
      if (one.instance === instance) one.activity = ids[one.activity] ?? one.activity;
  },
  VariableSet(draft, event) {
    setVariable(draft, event, text(event.value));
  },
  LoopStarted(draft, event) {
    draft.results.set(text(event.body), new Array<string>(sizeOf(draft, event)).fill('null'));
  },
  ItemCollected(draft, event) {
    const results = draft.results.get(text(event.body));
    if (results) results[Number(event.index)] = text(event.value);
  },
  LoopResultSet(draft, event) {
    setVariable(draft, event, `[${(draft.results.get(text(event.body)) ?? []).join(',')}]`);
  },
  AdHocOutputAdded(draft, event) {
    const before = draft.variables.get(`${text(event.scope)}/${text(event.name)}`)?.value ?? '[]';
    setVariable(draft, event, `${before.slice(0, -1)}${before === '[]' ? '' : ','}${text(event.value)}]`);
  },
  CompensationRegistered(draft, event) {
    const key = text(event.key);
    const { id: activity = '', instance = '' } = draft.elements.get(text(event.element)) ?? {};
    draft.compensations.set(key, { key, instance, activity, handler: null, thrower: null });
  },
  CompensationStarted(draft, event) {
    const of = draft.compensations.get(text(event.key));
    if (!of) return;
    draft.compensations.delete(of.key);
    const thrower = event.thrower == null ? null : text(event.thrower);
    draft.compensations.set(of.key, { ...of, handler: draft.elements.get(text(event.element)) ?? null, thrower });
  },
  CompensationHandedOver(draft, event) {
    const handler = draft.elements.get(text(event.key)) ?? null;
    for (const one of draft.compensations.values())
      if (one.handler?.key === text(event.element)) draft.compensations.set(one.key, { ...one, handler });
  },
  IncidentRaised(draft, event) {
    const key = text(event.key);
    const element = text(event.element);
    draft.incidents.set(key, {
      key,
      element,
      elementId: draft.elements.get(element)?.id ?? '',
      type: text(event.subjectType),
      message: text(event.message),
    });
    addOpen(draft, element, 1);
  },
  IncidentResolved(draft, event) {
    const incident = draft.incidents.get(text(event.key));
    if (incident) drop(draft, incident);
  },
};

/** As the statistics of the API count: inner instances of a loop but not its body, and not the process itself. */
function marked(draft: Draft): Marks {
  const elements = new Map<string, Mark>();
  for (const element of draft.elements.values()) {
    if (
      element.instance !== draft.instance ||
      element.key === element.instance ||
      element.kind === 'MULTI_INSTANCE_BODY'
    )
      continue;
    const mark = elements.get(element.id) ?? { active: 0, completed: 0, canceled: 0, incidents: 0 };
    mark[element.state === 'active' && element.open ? 'incidents' : element.state]++;
    elements.set(element.id, mark);
  }
  return { elements, flows: draft.flows };
}

function only<T>(all: Map<string, T>, test: (item: T) => boolean): Map<string, T> {
  return new Map([...all].filter(([, item]) => test(item)));
}

/** The state of `instance` after the first `upto` steps of its tree. */
export function fold(steps: readonly Step[], instance: string, upto = steps.length): View {
  const draft: Draft = {
    instance,
    definition: null,
    flows: new Set(),
    elements: new Map(),
    variables: new Map(),
    incidents: new Map(),
    compensations: new Map(),
    results: new Map(),
  };
  for (let i = 0; i < upto; i++) {
    const { event } = steps[i]!;
    APPLY[event.type]?.(draft, event);
  }
  const last = steps[upto - 1]?.event;
  const mine = (key: string): boolean => draft.elements.get(key)?.instance === instance;
  const fresh =
    last?.type === 'VariableSet' || last?.type === 'LoopResultSet'
      ? draft.variables.get(`${text(last.scope)}/${text(last.name)}`)
      : undefined;
  if (fresh) fresh.fresh = true;
  return {
    definition: draft.definition,
    marks: marked(draft),
    elements: draft.elements,
    variables: only(draft.variables, ({ scope }) => mine(scope)),
    incidents: only(draft.incidents, ({ element }) => mine(element)),
    compensations: only(draft.compensations, ({ handler }) => handler?.instance === instance),
  };
}

const SHOWN = new Set([
  'Command',
  'InstanceCreated',
  'ElementActivating',
  'ElementRestored',
  'ElementCompleted',
  'ElementTerminated',
  'VariableSet',
  'LoopResultSet',
  'IncidentRaised',
  'IncidentResolved',
  'JobCreated',
  'JobCompleted',
  'JobFailed',
  'JobErrorThrown',
  'TimerScheduled',
  'TimerTriggered',
  'SubscriptionOpened',
  'SubscriptionTriggered',
  'DecisionEvaluated',
  'UserTaskCreated',
  'UserTaskChanging',
  'UserTaskChanged',
  'UserTaskCorrected',
  'UserTaskDenied',
  'UserTaskEnded',
  'EventTriggered',
  'AdHocFulfilled',
  'AdHocOutputAdded',
  'CompensationStarted',
  'CompensationEnded',
  'ComplexGatewayReset',
  'DueDateSet',
  'InstanceSuspended',
  'InstanceResumed',
  'InstanceModified',
  'InstanceMigrated',
  'BusinessIdAssigned',
]);

/**
 * A step that people see; `after`: the number of steps of the log up to and with it. `place`: the key of its element, if
 * the event itself has that of a job, a task or a registration. `job`: the type of the job, or of the task listener.
 */
export type Shown = Step & { after: number; place?: string | undefined; job?: string | undefined };

type Subject = { place: string; job?: string };

/** The steps that people see; the others are the engine's bookkeeping. */
export function visible(steps: readonly Step[]): Shown[] {
  const subjects = new Map<string, Subject>();
  const shown = steps.map((step, i): Shown => {
    const { event } = step;
    const key = text(event.key);
    if (event.type === 'JobCreated') subjects.set(key, { place: text(event.element), job: text(event.subjectType) });
    else if (event.type === 'UserTaskCreated' || event.type === 'CompensationRegistered')
      subjects.set(key, { place: text(event.element) });
    return { ...step, after: i + 1, ...subjects.get(key) };
  });
  for (const [i, step] of shown.entries()) step.job ??= listenerOf(step, shown[i - 1], shown[i + 1]);
  return shown.filter(({ event }) => SHOWN.has(event.type));
}

/** The type of the listener that corrected or denied: that of the job that ends just after, or just before. */
function listenerOf(step: Shown, before: Shown | undefined, after: Shown | undefined): string | undefined {
  if (step.event.type === 'UserTaskCorrected') return after?.job;
  return step.event.type === 'UserTaskDenied' ? before?.job : undefined;
}
