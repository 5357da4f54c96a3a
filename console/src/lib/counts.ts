// The number of instances that run, and how many of them wait for help, as the server counts them.
import { send } from './api.ts';
import type { CauseCount, Durations, ProcessCount, Statistics, VersionCount } from './shapes.ts';

/** Suspended instances are not active. `incidents`: of active ones. */
export type Running = { active: number; incidents: number; suspended: number };
export const NOBODY: Running = { active: 0, incidents: 0, suspended: 0 };

const MOST = 10_000;

/** The items of an answer of statistics. Raises Problem. */
export const counted = async <T>(path: string, body: Record<string, unknown>, abort?: AbortSignal): Promise<T[]> =>
  (await send<{ items: T[] }>({ method: 'POST', path: `/v2/${path}`, body }, abort)).body.items;

/** The number of live tokens at each element that has some. */
export const tokensAt = (statistics: readonly Statistics[]): Map<string, number> =>
  new Map(
    statistics.map((one) => [one.elementId, one.active + one.incidents] as const).filter(([, tokens]) => tokens > 0),
  );

const running = (count: ProcessCount | VersionCount): Running => ({
  active: count.activeInstancesWithoutIncidentCount + count.activeInstancesWithIncidentCount,
  incidents: count.activeInstancesWithIncidentCount,
  suspended: count.suspendedInstancesCount,
});

const placeOf = (of: { processDefinitionId: string; tenantId: string }): string =>
  `${of.tenantId}/${of.processDefinitionId}`;

const processCounts = (abort?: AbortSignal): Promise<ProcessCount[]> =>
  counted<ProcessCount>('process-definitions/statistics/process-instances', { page: { limit: MOST } }, abort);

/** All running instances. */
export async function runningInAll(abort?: AbortSignal): Promise<Running> {
  const all = (await processCounts(abort)).map(running);
  const sumOf = (name: keyof Running): number => all.reduce((sum, each) => sum + each[name], 0);
  return { active: sumOf('active'), incidents: sumOf('incidents'), suspended: sumOf('suspended') };
}

/** The running instances of each process: all versions together. */
export async function runningByProcess(
  abort?: AbortSignal,
): Promise<(of: { processDefinitionId: string; tenantId: string }) => Running> {
  const items = await processCounts(abort);
  const found = new Map(items.map((count) => [placeOf(count), running(count)]));
  return (of) => found.get(placeOf(of)) ?? NOBODY;
}

/** The running instances of the versions of a process, by the key of the definition. */
export async function runningByVersion(
  processDefinitionId: string,
  abort?: AbortSignal,
): Promise<Map<string, Running>> {
  const items = await counted<VersionCount>(
    'process-definitions/statistics/process-instances-by-version',
    { filter: { processDefinitionId }, page: { limit: MOST } },
    abort,
  );
  return new Map(items.map((count) => [count.processDefinitionKey, running(count)]));
}

/** The causes with the most active incidents, by where they occur. */
export const causesOf = (limit: number, abort?: AbortSignal): Promise<CauseCount[]> =>
  counted<CauseCount>('incidents/statistics/by-cause', { page: { limit } }, abort);

/** The durations of a process (element '') and its elements, by element. */
export async function durationsOf(key: string, abort?: AbortSignal): Promise<Map<string, Durations>> {
  const path = `/v2/process-definitions/${key}/statistics/element-durations`;
  const { body } = await send<{ processInstances: Durations | null; items: (Durations & { elementId: string })[] }>(
    { method: 'GET', path },
    abort,
  );
  return new Map([
    ...(body.processInstances ? [['', body.processInstances] as const] : []),
    ...body.items.map((each) => [each.elementId, each] as const),
  ]);
}
