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
/** Running instances of a definition that are called, and how they would go to the latest version. */
export type Called = {
  processDefinitionId: string;
  sourceProcessDefinitionKey: string;
  sourceVersion: number;
  targetProcessDefinitionKey: string;
  targetVersion: number;
  active: number;
  mappingInstructions: readonly { sourceElementId: string; targetElementId: string }[];
  elements: readonly (Suggested & { active: number })[];
};
export type Plan = { to: string; mappings: Mappings; called: readonly Called[] };

const planned = async (from: string, to: string, includeCalled: boolean, abort: AbortSignal) =>
  (
    await send<{ elements: Suggested[]; calledInstances: Called[] }>(
      {
        method: 'POST',
        path: `/v2/process-definitions/${from}/migration-plan`,
        body: { targetProcessDefinitionKey: to, includeCalled },
      },
      abort,
    )
  ).body;

/** All elements of the source, with the mappings that the server suggests. Raises Problem. */
export const suggestionOf = async (from: string, to: string, abort: AbortSignal): Promise<Suggested[]> =>
  (await planned(from, to, false, abort)).elements;

/** The called instances that have a later version, with suggestions. Raises Problem. */
export const calledBy = async (from: string, to: string, abort: AbortSignal): Promise<Called[]> =>
  (await planned(from, to, true, abort)).calledInstances;

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

const bodyOf = ({ to, mappings, called }: Plan) => ({
  targetProcessDefinitionKey: to,
  mappingInstructions: [...mappings].map(([sourceElementId, targetElementId]) => ({
    sourceElementId,
    targetElementId,
  })),
  ...(called.length && {
    calledInstances: called.map(({ sourceProcessDefinitionKey, targetProcessDefinitionKey, mappingInstructions }) => ({
      sourceProcessDefinitionKey,
      targetProcessDefinitionKey,
      mappingInstructions,
    })),
  }),
});

const optionsOf = ({ to, mappings, called }: Plan): string =>
  [
    ` --to ${to}`,
    ...[...mappings].map(([a, b]) => `--map ${argument(a === b ? a : `${a}:${b}`)}`),
    ...called.map((one) => `--called ${one.sourceProcessDefinitionKey}:${one.targetProcessDefinitionKey}`),
  ].join(' ');

export const migrationOf = (key: string, plan: Plan): Command => ({
  method: 'POST',
  path: `/v2/process-instances/${key}/migration`,
  body: bodyOf(plan),
  cli: `migrate-instance ${key}${optionsOf(plan)}`,
});

/** Migrate the instances of a definition that match. */
export const migrateAll = (from: string, filter: Record<string, unknown>, plan: Plan): Command => ({
  method: 'POST',
  path: '/v2/process-instances/migration',
  body: { filter, migrationPlan: bodyOf(plan) },
  cli: `migrate-instance --all --from ${from} --filter ${argument(JSON.stringify(filter))}${optionsOf(plan)}`,
});
