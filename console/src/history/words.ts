// Events for people: a sign, a word, and what they are about.

import type { Key } from '../lib/i18n.ts';
import type { LogEvent } from '../lib/shapes.ts';
import type { View } from './fold.ts';

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
  UserTaskCreated: { icon: '○', word: 'event.taskCreated', tone: '' },
  UserTaskChanged: { icon: '○', word: 'event.taskChanged', tone: '' },
  UserTaskEnded: { icon: '✓', word: 'event.taskEnded', tone: 'ok' },
  EventTriggered: { icon: '→', word: 'event.caught', tone: '' },
};

export const lookOf = (event: LogEvent): Look => LOOKS[event.type] ?? { icon: '·', word: 'event.other', tone: '' };

const text = (value: unknown): string => (value === null || value === undefined ? '' : String(value));
const cut = (value: string): string => (value.length > 160 ? `${value.slice(0, 160)}…` : value);

/** The element that an event is about, by its id; null if it is about none. */
export function elementOf(event: LogEvent, view: View): string | null {
  if (event.type === 'ElementActivating') return text(event.element);
  if (event.type === 'EventTriggered') return text(event.target);
  for (const field of ['element', 'key', 'scope']) {
    const found = view.elements.get(text(event[field]));
    if (found && found.key !== found.instance) return found.id;
  }
  return null;
}

/** What happened, without the word for it. `name`: the name of an element by its id. */
export function subjectOf(event: LogEvent, view: View, name: (id: string) => string): string {
  if (event.type === 'Command') return text(event.intent).toLowerCase().replaceAll('_', ' ').replace(':', ' · ');
  if (event.type === 'InstanceCreated') return `${text(event.name) || text(event.processId)} v${text(event.version)}`;
  if (event.type === 'LoopResultSet') return text(event.name);
  if (event.type === 'VariableSet') return cut(`${text(event.name)} = ${text(event.value)}`);
  const element = elementOf(event, view);
  const place = element ? name(element) : '';
  const more =
    event.type === 'IncidentRaised'
      ? text(event.message)
      : event.type === 'JobCreated'
        ? text(event.subjectType)
        : text(event.errorMessage ?? event.message ?? '');
  return cut([place, more].filter(Boolean).join(' · '));
}
