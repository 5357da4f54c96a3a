// Events for people: a sign, a word, and what they are about.
import { wordsOf } from '../lib/commands.ts';
import { type Key, t } from '../lib/i18n.ts';
import type { LogEvent } from '../lib/shapes.ts';
import { when } from '../lib/time.ts';
import type { Shown, View } from './fold.ts';

export type Tone = '' | 'command' | 'ok' | 'bad';
type Look = { icon: string; word: Key; tone: Tone };
const LOOKS: Record<string, Look> = {
  Command: { icon: '▸', word: 'event.command', tone: 'command' },
  InstanceCreated: { icon: '●', word: 'event.created', tone: '' },
  ElementActivating: { icon: '●', word: 'event.activated', tone: '' },
  ElementCompleted: { icon: '✓', word: 'event.completed', tone: 'ok' },
  ElementTerminated: { icon: '×', word: 'event.terminated', tone: '' },
  VariableSet: { icon: '=', word: 'event.variable', tone: '' },
  LoopResultSet: { icon: '=', word: 'event.variable', tone: '' },
  IncidentRaised: { icon: '!', word: 'event.incident', tone: 'bad' },
  IncidentResolved: { icon: '✓', word: 'event.resolved', tone: 'ok' },
  JobCreated: { icon: '○', word: 'event.jobCreated', tone: '' },
  JobCompleted: { icon: '✓', word: 'event.jobCompleted', tone: 'ok' },
  JobFailed: { icon: '!', word: 'event.jobFailed', tone: 'bad' },
  JobErrorThrown: { icon: '!', word: 'event.errorThrown', tone: 'bad' },
  TimerScheduled: { icon: '◔', word: 'event.timerScheduled', tone: '' },
  TimerTriggered: { icon: '◔', word: 'event.timerTriggered', tone: 'ok' },
  SubscriptionOpened: { icon: '✉', word: 'event.waits', tone: '' },
  SubscriptionTriggered: { icon: '✉', word: 'event.messageArrived', tone: 'ok' },
  DecisionEvaluated: { icon: '⊞', word: 'event.decided', tone: 'ok' },
  UserTaskCreated: { icon: '○', word: 'event.taskCreated', tone: '' },
  UserTaskChanged: { icon: '○', word: 'event.taskChanged', tone: '' },
  UserTaskChanging: { icon: '◔', word: 'event.taskChanging', tone: '' },
  UserTaskCorrected: { icon: '✎', word: 'event.taskCorrected', tone: '' },
  UserTaskDenied: { icon: '!', word: 'event.taskDenied', tone: 'bad' },
  UserTaskEnded: { icon: '✓', word: 'event.taskEnded', tone: 'ok' },
  EventTriggered: { icon: '→', word: 'event.caught', tone: '' },
  AdHocFulfilled: { icon: '✓', word: 'event.fulfilled', tone: 'ok' },
  AdHocOutputAdded: { icon: '=', word: 'event.output', tone: '' },
  CompensationStarted: { icon: '↶', word: 'event.compensates', tone: '' },
  ComplexGatewayReset: { icon: '↺', word: 'event.gatewayReset', tone: '' },
  InstanceSuspended: { icon: 'Ⅱ', word: 'event.suspended', tone: '' },
  InstanceResumed: { icon: '▸', word: 'event.resumed', tone: 'ok' },
  BusinessIdAssigned: { icon: '=', word: 'event.businessId', tone: '' },
  DueDateSet: { icon: '◔', word: 'timer.due', tone: '' },
  InstanceModified: { icon: '✎', word: 'event.modified', tone: '' },
  ElementRestored: { icon: '↶', word: 'event.restored', tone: '' },
  InstanceMigrated: { icon: '⇒', word: 'event.migrated', tone: '' },
  CompensationEnded: { icon: '↶', word: 'event.compensated', tone: 'ok' },
};

/** The choice of rows: everything, the commands with the events of one of them, or the events whose types match. */
export const CHOICES = [
  ['', 'filter.all', /./],
  ['commands', 'history.byCommand', /^Command/],
  ['incidents', 'nav.incidents', /^Incident|Failed$|Thrown$|Denied$/],
  ['elements', 'elements', /^(Inst|Due|Elem|Event|AdHoc|Compe|Compl)/],
  ['variables', 'variables', /^(Var|Loop)/],
  ['jobs', 'jobs', /^Job/],
  ['tasks', 'nav.tasks', /^User/],
  ['waits', 'preview.subscriptions', /^(Timer|Sub)/],
  ['decisions', 'nav.decisions', /^Dec/],
] as const satisfies readonly (readonly [string, Key, RegExp])[];

/** The places in the list, from 0, of the events that a choice shows. `now`: the place of the current one, whose command is open. */
export function placesOf(shown: readonly Shown[], choice: string, now: number): number[] {
  const [, , types] = CHOICES.find(([value]) => value === choice) ?? CHOICES[0];
  const position = choice === 'commands' && shown[now]?.position;
  return [...shown.keys()].filter((i) => {
    const { event, position: of } = shown[i]!;
    return types.test(event.type) || (position && (of === position || lookOf(event).tone === 'bad'));
  });
}

const FAILED_DECISION: Look = { icon: '!', word: 'event.decisionFailed', tone: 'bad' };

export const lookOf = (event: LogEvent): Look =>
  event.type === 'DecisionEvaluated' && event.failure != null
    ? FAILED_DECISION
    : (LOOKS[event.type] ?? { icon: '·', word: 'event.other', tone: '' });

const text = (value: unknown): string => (value === null || value === undefined ? '' : String(value));
const cut = (value: string): string => (value.length > 160 ? `${value.slice(0, 160)}…` : value);

/** The element that an event is about, by its id; null if it is about none. */
export function elementOf({ event, place }: Shown, view: View): string | null {
  if (place) return view.elements.get(place)?.id ?? null;
  if (event.type === 'ElementActivating' || event.type === 'ElementRestored') return text(event.element);
  if (event.type === 'EventTriggered' || event.type === 'ComplexGatewayReset') return text(event.target);
  for (const field of ['element', 'key', 'scope']) {
    const found = view.elements.get(text(event[field]));
    if (found && found.key !== found.instance) return found.id;
  }
  return null;
}

/** Attributes of a user task under their names in events. Dates are epoch ms. */
const ATTRIBUTES: Record<string, Key> = {
  assignee: 'task.assignee',
  candidate_groups: 'task.groups',
  candidate_users: 'task.users',
  due_at: 'timer.due',
  follow_up_at: 'task.followUp',
  priority: 'task.priority',
};

const shownValue = (name: string, value: unknown): string =>
  name.endsWith('_at') && typeof value === 'number'
    ? new Date(value).toISOString()
    : (Array.isArray(value) ? value.join(', ') : text(value)) || '–';

/** The attributes of a task that change: “assignee: ada · priority: 80”. */
const changesOf = (changes: unknown): string =>
  Object.entries((changes ?? {}) as Record<string, unknown>)
    .map(([name, value]) => `${ATTRIBUTES[name] ? t(ATTRIBUTES[name]) : name}: ${shownValue(name, value)}`)
    .join(' · ');

type Transition = { event: string; action?: string; changes?: unknown };

/** The decision that was asked for with its result, or why it failed. Nothing is left of it after an erasure. */
function decidedOf({ decisions, failure }: LogEvent): string {
  const last = (decisions as unknown[][]).at(-1);
  if (!last || failure != null) return text(failure);
  const [, id, name, , , result] = last;
  return `${text(name) || text(id)} = ${text(result)}`;
}

/** The details of an event beside its element. */
function detailOf(event: LogEvent): string {
  if (event.type === 'IncidentRaised') return text(event.message);
  if (event.type === 'DecisionEvaluated') return decidedOf(event);
  if (event.type === 'UserTaskDenied') return text(event.reason);
  if (event.type === 'UserTaskCorrected' || event.type === 'UserTaskChanged') return changesOf(event.changes);
  if (event.type === 'AdHocOutputAdded') return `${text(event.name)} + ${text(event.value)}`;
  if (event.type === 'UserTaskChanging') {
    const { event: state, action, changes } = event.transition as Transition;
    return [state.toLowerCase(), action, changesOf(changes)].filter(Boolean).join(' · ');
  }
  return text(event.errorMessage ?? event.message ?? '');
}

/** The elements that a modification activated and terminated. */
function modifiedOf({ activated, terminated }: LogEvent, view: View, name: (id: string) => string): string {
  const begun = ((activated ?? []) as string[]).map((id) => `+ ${name(id)}`);
  const gone = ((terminated ?? []) as unknown[]).map(
    (key) => `− ${name(view.elements.get(text(key))?.id ?? text(key))}`,
  );
  return [...gone, ...begun].join(' · ');
}

/** An event's subject, without the word for what happened. `name`: the name of an element by its id. */
export function subjectOf(step: Shown, view: View, name: (id: string) => string): string {
  const { event } = step;
  if (event.type === 'Command') return wordsOf(text(event.intent), event.change as string | null);
  if (event.type === 'InstanceCreated' || event.type === 'InstanceMigrated')
    return `${text(event.name) || text(event.processId)} v${text(event.version)}`;
  if (event.type === 'InstanceModified') return cut(modifiedOf(event, view, name));
  if (event.type === 'InstanceSuspended') return text(event.reason);
  if (event.type === 'BusinessIdAssigned') return text(event.businessId) || '−';
  if (event.type === 'DueDateSet') return when(new Date(Number(event.dueAt)).toISOString());
  if (event.type === 'LoopResultSet') return text(event.name);
  if (event.type === 'VariableSet') return cut(`${text(event.name)} = ${text(event.value)}`);
  const element = elementOf(step, view);
  return cut([element ? name(element) : '', step.job, detailOf(event)].filter(Boolean).join(' · '));
}
