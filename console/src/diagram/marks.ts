// What a diagram shows about its elements, from statistics of the API or from a fold of events.
import type { Statistics } from '../lib/shapes.ts';

export type Mark = { active: number; incidents: number; completed: number; canceled: number };
/** `offered`: what people can activate in ad-hoc sub-processes. */
export type Marks = { elements: Map<string, Mark>; flows: ReadonlySet<string>; offered?: ReadonlySet<string> };

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
