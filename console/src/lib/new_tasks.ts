// New work: the open tasks for the user that came since the list of tasks was last in sight, in this browser.
import { signal } from '@preact/signals';
import type { PageInfo, UserTask } from './shapes.ts';

/** The number of these tasks. The title of each page has the number in front. */
export const newTasks = signal(0);

/** The knowledge of this browser. `seen`: keys that were in the list. `told`: those with a notification. `newest`: the last creation date. */
export type Known = { seen: string[]; told: string[]; newest: string };

const keyOf = (user: string): string => `vivero.tasks.${user}`;

/** Null before the first time, and if the browser's storage has something else there. */
export function knownOf(user: string): Known | null {
  try {
    const { seen, told, newest } = JSON.parse(localStorage.getItem(keyOf(user)) ?? '{}') as Known;
    return Array.isArray(seen) && Array.isArray(told) && typeof newest === 'string' ? { seen, told, newest } : null;
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}

export const keep = (user: string, known: Known): void => localStorage.setItem(keyOf(user), JSON.stringify(known));

export type Found = { tasks: readonly UserTask[]; page: PageInfo };

/** The tasks of a search that are new. Where there are more than it shows, an older one that moves up is not new. */
export const newIn = ({ tasks, page }: Found, { seen, newest }: Known): UserTask[] =>
  tasks.filter(
    (task) => !seen.includes(task.userTaskKey) && (page.totalItems <= tasks.length || task.creationDate > newest),
  );
