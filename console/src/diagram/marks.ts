// Marks of a diagram at its elements, from statistics of the API or from a fold of events.
import type { Planned } from '../lib/operations/modification.ts';
import type { Statistics } from '../lib/shapes.ts';
import type { Change, Ghost } from './difference.ts';

export type Mark = { active: number; incidents: number; completed: number; canceled: number };
/** `offered`: what people can activate in ad-hoc sub-processes. `planned`: what a modification would do.
 * `differing`: what differs from another version, of which `ghosts` are not here any more. */
export type Marks = {
  elements: Map<string, Mark>;
  flows: ReadonlySet<string>;
  offered?: ReadonlySet<string>;
  planned?: ReadonlyMap<string, Planned>;
  differing?: ReadonlyMap<string, { change: Change; word: string }>;
  ghosts?: readonly Ghost[];
};

export const SIGNS = { added: '+', removed: '−', changed: '≠' } as const;

/** “−2 +1”: the tokens that leave an element, and those that come. */
export const plannedText = ({ joins, leaves }: Planned): string =>
  [leaves && `−${leaves}`, joins && `+${joins}`].filter(Boolean).join(' ');

export const NOTHING: Marks = { elements: new Map(), flows: new Set() };

export function marksOf(statistics: readonly Statistics[], flows: readonly string[] = []): Marks {
  return { elements: new Map(statistics.map((s) => [s.elementId, s])), flows: new Set(flows) };
}

/** The classes of an element, which the stylesheet colours. */
export function classesOf(mark: Mark): string[] {
  if (mark.incidents) return ['is-incident'];
  if (mark.active) return ['is-active'];
  return mark.completed ? ['is-done'] : mark.canceled ? ['is-canceled'] : [];
}
