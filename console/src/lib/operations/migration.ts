// Migration to another definition: the mappings that the server suggests, those that people choose, and the requests.

import { get, send } from '../api.ts';
import { argument, type Command } from '../commands.ts';
import { counted, tokensAt } from '../counts.ts';
import type { Statistics } from '../shapes.ts';

/** An element of the source. `targetElementId` and `reason`: null if nothing fits. */
export type Suggested = {
  elementId: string;
  elementName: string | null;
  elementType: string;
  targetElementId: string | null;
  reason: 'SAME_ID' | 'SAME_NAME' | 'SAME_CONTENT' | 'SAME_NEIGHBOURS' | null;
};
/** Source → target of each mapped element. */
export type Mappings = ReadonlyMap<string, string>;

/** All elements of the source, with the mappings that the server suggests. Raises Problem. */
export async function suggestionOf(from: string, to: string, abort: AbortSignal): Promise<Suggested[]> {
  const path = `/v2/process-definitions/${from}/migration-plan`;
  const body = { targetProcessDefinitionKey: to };
  return (await send<{ elements: Suggested[] }>({ method: 'POST', path, body }, abort)).body.elements;
}

/** The live tokens of one instance, or of all that a filter selects, by element. Raises Problem. */
export async function liveOf(
  from: string,
  instance: string | null,
  filter: Record<string, unknown>,
  abort: AbortSignal,
): Promise<Map<string, number>> {
  const path = 'statistics/element-instances';
  const items = instance
    ? (await get<{ items: Statistics[] }>(`/v2/process-instances/${instance}/${path}`, abort)).items
    : await counted<Statistics>(`process-definitions/${from}/${path}`, { filter }, abort);
  return tokensAt(items);
}

const planOf = (to: string, mappings: Mappings) => ({
  targetProcessDefinitionKey: to,
  mappingInstructions: [...mappings].map(([sourceElementId, targetElementId]) => ({
    sourceElementId,
    targetElementId,
  })),
});

const mapsOf = (to: string, mappings: Mappings): string =>
  ` --to ${to}${[...mappings].map(([a, b]) => ` --map ${argument(a === b ? a : `${a}:${b}`)}`).join('')}`;

export const migrationOf = (key: string, to: string, mappings: Mappings): Command => ({
  method: 'POST',
  path: `/v2/process-instances/${key}/migration`,
  body: planOf(to, mappings),
  cli: `migrate-instance ${key}${mapsOf(to, mappings)}`,
});

/** Migrate the instances of a definition that match. */
export const migrateAll = (from: string, filter: Record<string, unknown>, to: string, mappings: Mappings): Command => ({
  method: 'POST',
  path: '/v2/process-instances/migration',
  body: { filter, migrationPlan: planOf(to, mappings) },
  cli: `migrate-instance --all --from ${from} --filter ${argument(JSON.stringify(filter))}${mapsOf(to, mappings)}`,
});
