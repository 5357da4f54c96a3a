// Dry runs: what a command would do with an instance, in the words of the server.
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
};

/** What a command would do. Nothing is changed. Raises Problem. */
export const dryRunOf = async ({ path, body }: Command, abort?: AbortSignal): Promise<DryRun> =>
  (await send<DryRun>({ method: 'POST', path: `${path}?dryRun=true`, body }, abort)).body;

/** The entity tag of a version, as `If-Match` takes it. */
export const tagOf = ({ version }: DryRun): string => `"${version}"`;
