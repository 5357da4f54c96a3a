// The filters of the list of tasks: from the query of the URL to the filter and the order of a search.
import { identity, jsonText, part, type Values } from '../lib/filters.ts';
import type { SearchRequest, UserTask } from '../lib/shapes.ts';

export const VIEWS = ['open', 'mine', 'groups', 'unassigned', 'done'] as const;
/** Due dates and follow-up dates that can be chosen. */
export const DATES = ['past', 'today', 'week', 'none'] as const;
/** The filters beside the view and the business id. */
export const FILTERS = [
  'process',
  'name',
  'group',
  'assignee',
  'priority',
  'due',
  'followUp',
  'variable',
  'value',
] as const;

type Sort = NonNullable<SearchRequest['sort']>;

const CREATED = { field: 'creationDate', order: 'ASC' } as const;

/** The orders of open tasks. Completed tasks are the whole history, and come in the one order that an index has. */
export const SORTS = {
  priority: [{ field: 'priority', order: 'DESC' }, CREATED],
  due: [{ field: 'dueDate', order: 'ASC' }, CREATED],
  followUp: [{ field: 'followUpDate', order: 'ASC' }, CREATED],
  newest: [{ field: 'creationDate', order: 'DESC' }],
  oldest: [CREATED],
  name: [{ field: 'name', order: 'ASC' }, CREATED],
} satisfies Record<string, Sort>;

export type Order = keyof typeof SORTS;
export const isOrder = (text: string): text is Order => Object.hasOwn(SORTS, text);

export function orderOf(view: string, sort: string): Sort {
  return view === 'done' ? SORTS.newest : SORTS[isOrder(sort) ? sort : 'priority'];
}

/** The condition on a date: before now, or before the end of the local day or of the sixth after it. */
function dated(choice: string, now: number): Record<string, unknown> | undefined {
  const endOfDay = (later: number) => new Date(new Date(now).setHours(24 * (later + 1), 0, 0, 0));
  const before = new Map([
    ['past', new Date(now)],
    ['today', endOfDay(0)],
    ['week', endOfDay(6)],
  ]).get(choice); // an object would have `constructor`, too
  if (before !== undefined) return { $lt: before.toISOString() };
  return choice === 'none' ? { $exists: false } : undefined;
}

/** The condition on the assignee: the view says it, else a filter. */
function assigned(view: string, me: string, assignee: string | undefined): Record<string, unknown> {
  if (view === 'mine') return { assignee: me };
  if (view === 'unassigned') return { assignee: { $exists: false } };
  return assignee ? { assignee } : {};
}

/** The filter of a search for user tasks; null if nothing can match. */
export function taskFilter(
  values: Values,
  me: string,
  groups: readonly string[],
  now: number,
): Record<string, unknown> | null {
  const view = values.view ?? 'open';
  if ((view === 'mine' && !me) || (view === 'groups' && !groups.length)) return null;
  const { q, process, name, group, assignee, priority, variable, value } = values;
  const [due, followUp] = [dated(values.due ?? '', now), dated(values.followUp ?? '', now)];
  const inGroups = { ...(view === 'groups' && { $in: groups }), ...(group && { $eq: group }) };
  return {
    state: view === 'done' ? 'COMPLETED' : 'CREATED',
    ...(q?.trim() && identity(q.trim())),
    ...(process && { processDefinitionId: process }),
    ...(name && { name: part(name) }),
    ...(Object.keys(inGroups).length && { candidateGroup: inGroups }),
    ...assigned(view, me, assignee),
    ...(priority && { priority: { $gte: Number(priority) } }),
    ...(due && { dueDate: due }),
    ...(followUp && { followUpDate: followUp }),
    ...(variable && {
      processInstanceVariables: [{ name: variable, value: value ? jsonText(value) : { $exists: true } }],
    }),
  };
}

/** Whether a task should have been done by now. */
export const isOverdue = (task: UserTask, now = Date.now()): boolean =>
  task.state === 'CREATED' && task.dueDate !== null && Date.parse(task.dueDate) < now;
