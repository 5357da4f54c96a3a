// A modification as people collect it: changes of where the tokens of an instance are, and the request that makes them.
import { type Signal, signal } from '@preact/signals';
import { search } from '../api.ts';
import { argument, type Command, variablesOption } from '../commands.ts';
import { tokensAt } from '../counts.ts';
import { variablesOf } from '../json.ts';
import type { ElementInstance, Page, Statistics } from '../shapes.ts';

/** The tokens that leave: those of all instances of an element, or only of the one with a key. */
export type Source = { id: string; key: string | null };
/** `ancestor`: the key of a scope, or '' if the server chooses. `variables`: JSON text. `scope`: the id of where they are set, or '' for the instance. */
export type Change = {
  number: number;
  source: Source | null;
  target: string | null;
  ancestor: Signal<string>;
  variables: Signal<string>;
  scope: Signal<string>;
};
/** The numbers of tokens that come to an element and leave it. */
export type Planned = { joins: number; leaves: number; wrong: boolean };

/** The live instances of an element, or of some, the oldest first. Raises Problem. */
export const liveInstances = (
  instance: string,
  elementId: string | null | { $in: readonly string[] },
  limit: number,
  abort: AbortSignal,
): Promise<Page<ElementInstance>> =>
  search<ElementInstance>(
    'element-instances',
    {
      filter: { processInstanceKey: instance, elementId, state: 'ACTIVE' },
      sort: [{ field: 'startDate', order: 'ASC' }],
      page: { limit },
    },
    abort,
  );

let count = 0;
export const changeOf = (source: Source | null, target: string | null): Change => ({
  number: ++count,
  source,
  target,
  ancestor: signal(''),
  variables: signal(''),
  scope: signal(''),
});

/** The changes with one more. A token leaves once: an earlier change of the same source goes. */
export function withChange(changes: readonly Change[], change: Change): Change[] {
  const { source } = change;
  const others = changes.filter((one) => !source || one.source?.id !== source.id || one.source.key !== source.key);
  return [...others, change];
}

const sourceOf = ({ id, key }: Source) =>
  key ? { sourceType: 'byKey', sourceElementInstanceKey: key } : { sourceType: 'byId', sourceElementId: id };

const ancestorOf = ({ ancestor }: Change) =>
  ancestor.value
    ? { ancestorScopeType: 'direct', ancestorElementInstanceKey: ancestor.value }
    : { ancestorScopeType: 'inferred' };

const variablesIn = (change: Change): Record<string, unknown> => variablesOf(change.variables.value).value ?? {};

function instructionsOf(change: Change): { variableInstructions?: unknown[] } {
  const variables = variablesIn(change);
  if (!Object.keys(variables).length) return {};
  return { variableInstructions: [{ variables, ...(change.scope.value && { scopeId: change.scope.value }) }] };
}

/** The body of the request. */
export function bodyOf(changes: readonly Change[]): Record<string, unknown> {
  const moves = changes.filter(({ source, target }) => source && target);
  const begun = changes.filter(({ source }) => !source);
  const ended = changes.filter(({ target }) => !target);
  return {
    ...(begun.length && {
      activateInstructions: begun.map((one) => ({
        elementId: one.target,
        ...(one.ancestor.value && { ancestorElementInstanceKey: one.ancestor.value }),
        ...instructionsOf(one),
      })),
    }),
    ...(moves.length && {
      moveInstructions: moves.map((one) => ({
        sourceElementInstruction: sourceOf(one.source!),
        targetElementId: one.target,
        ancestorScopeInstruction: ancestorOf(one),
        ...instructionsOf(one),
      })),
    }),
    ...(ended.length && {
      terminateInstructions: ended.map(({ source }) =>
        source!.key ? { elementInstanceKey: source!.key } : { elementId: source!.id },
      ),
    }),
  };
}

/** The command line, if it can say all of it: no ancestors, and the same variables of the instance with all changes. */
function cliOf(key: string, changes: readonly Change[]): string | undefined {
  const coming = changes.filter(({ target }) => target);
  const texts = new Set(coming.map((one) => JSON.stringify(variablesIn(one))));
  if (texts.size > 1 || coming.some(({ ancestor, scope }) => ancestor.value || scope.value)) return undefined;
  const options = changes.map(({ source, target }) => {
    const from = source && (source.key ?? source.id);
    if (!from) return `--activate ${argument(target!)}`;
    return target ? `--move ${argument(`${from}:${target}`)}` : `--terminate ${argument(from)}`;
  });
  return `modify ${key} ${options.join(' ')}${coming.length ? variablesOption(variablesIn(coming[0]!)) : ''}`;
}

export function modificationOf(key: string, changes: readonly Change[]): Command {
  const cli = cliOf(key, changes);
  const path = `/v2/process-instances/${key}/modification`;
  return { method: 'POST', path, body: bodyOf(changes), ...(cli && { cli }) };
}

/** Why a change cannot be sent as it is; null if it can. */
export const invalidOf = (changes: readonly Change[]): string | null =>
  changes.map((one) => variablesOf(one.variables.value).problem).find((problem) => problem !== null) ?? null;

/** The effect of the changes at each element. `wrong`: the elements with problems. */
export function plannedOf(
  changes: readonly Change[],
  statistics: readonly Statistics[],
  wrong: readonly (string | null)[],
): Map<string, Planned> {
  const found = new Map<string, Planned>();
  const at = (id: string): Planned => {
    const known = found.get(id) ?? { joins: 0, leaves: 0, wrong: false };
    found.set(id, known);
    return known;
  };
  const live = tokensAt(statistics);
  for (const { source, target } of changes) {
    const tokens = source && !source.key ? (live.get(source.id) ?? 0) : 1;
    if (source) at(source.id).leaves += tokens;
    if (target) at(target).joins += tokens;
  }
  for (const id of wrong) if (id) at(id).wrong = true;
  return found;
}
