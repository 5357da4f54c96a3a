// Dry runs: what a command would do with an instance, in the words of the server.
import type { Signal } from '@preact/signals';
import { type ElementProblem, send } from '../api.ts';
import type { Command } from '../commands.ts';

export type Effect = 'OPENS' | 'CLOSES' | 'STAYS';
export type EffectItem = {
  effect: Effect;
  kind: string;
  elementId: string;
  formerElementId: string | null;
  key: string | null;
  detail: string;
};
export type EffectCounts = { opens: number; closes: number; stays: number };
export type StarvingJoin = { elementId: string; scopeElementId: string; missingFlowIds: string[] };
export type DryRun = {
  version: number;
  state: string;
  lines: string[];
  lineCount: number;
  effects: {
    counts: Record<string, EffectCounts>;
    items: EffectItem[];
    itemCount: number;
    starvingJoins: StarvingJoin[];
  };
  problems: ElementProblem[];
  undo?: { offered: boolean; reason: string | null };
};

/** Why commands of a batch operation would not be done. */
export type Reason = { reason: string; count: number; exampleKeys: string[] };
export type Forecast = {
  total: number;
  wouldSucceed: number;
  wouldSkip: Reason[];
  wouldFail: Reason[];
  notTried: Reason[];
  stoppedAt: { bound: 'INSTANCES' | 'SECONDS'; value: number } | null;
};

async function tried<T>({ path, body }: Command): Promise<T> {
  return (await send<T>({ method: 'POST', path: `${path}?dryRun=true`, body })).body;
}

/** The effects that a command would have. Nothing is changed. Raises Problem. */
export const dryRunOf = (command: Command): Promise<DryRun> => tried(command);

/** The forecast of a batch operation. Nothing is changed. Raises Problem. */
export const forecastOf = (command: Command): Promise<Forecast> => tried(command);

/** As `dryRunOf`; what is wrong is kept in `problems`, too. */
export const dryRunInto =
  (problems: Signal<readonly ElementProblem[]>) =>
  async (command: Command): Promise<DryRun> => {
    const found = await dryRunOf(command);
    problems.value = found.problems;
    return found;
  };

/** The entity tag of a version, as `If-Match` takes it. */
export const tagOf = ({ version }: DryRun): string => `"${version}"`;
