// How many instances run, and how many of them wait for help. Totals are exact up to 10,000.
import { search } from './api.ts';
import type { Instance } from './shapes.ts';

export type Running = { active: number; incidents: number; more: boolean };

const totalOf = async (filter: Record<string, unknown>, abort?: AbortSignal) =>
  (await search<Instance>('process-instances', { filter, page: { limit: 1 } }, abort)).page;

export async function runningOf(filter: Record<string, unknown>, abort?: AbortSignal): Promise<Running> {
  const [active, incidents] = await Promise.all([
    totalOf({ ...filter, state: 'ACTIVE' }, abort), totalOf({ ...filter, state: 'ACTIVE', hasIncident: true }, abort),
  ]);
  return { active: active.totalItems, incidents: incidents.totalItems, more: active.hasMoreTotalItems };
}
