// The plan of a modification on the page of an instance: what people collect before they send it.
import { type Signal, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { Carrying } from '../../diagram/carrying.ts';
import type { Marks } from '../../diagram/marks.ts';
import type { ElementProblem } from '../../lib/api.ts';
import type { FlowNode } from '../../lib/operations/flow_nodes.ts';
import { type Change, changeOf, type Source, withChange } from '../../lib/operations/modification.ts';

export type Plan = {
  changes: Signal<readonly Change[]>;
  /** The source whose target is to be chosen next. */
  aiming: Signal<Source | null>;
  /** The problems that the server found, until something changes. */
  problems: Signal<readonly ElementProblem[]>;
};

export function usePlan(): Plan {
  const changes = useSignal<readonly Change[]>([]);
  const aiming = useSignal<Source | null>(null);
  const problems = useSignal<readonly ElementProblem[]>([]);
  return useMemo(() => ({ changes, aiming, problems }), []);
}

function set(plan: Plan, changes: readonly Change[]): void {
  plan.changes.value = changes;
  plan.aiming.value = null;
  plan.problems.value = [];
}

/** Move the tokens of a source; without a source begin anew at the target, without a target end them. */
export const stage = (plan: Plan, source: Source | null, target: string | null): void =>
  set(plan, withChange(plan.changes.peek(), changeOf(source, target)));

export const unstage = (plan: Plan, change: Change): void =>
  set(
    plan,
    plan.changes.peek().filter((one) => one !== change),
  );

export const clear = (plan: Plan): void => set(plan, []);

/** Tokens can be dragged from where they are to any element that a modification can activate. */
export const carryingOf = (plan: Plan, marks: Marks, nodes: ReadonlyMap<string, FlowNode>): Carrying => ({
  from: (id) => {
    const mark = marks.elements.get(id);
    return mark && mark.active + mark.incidents > 0 ? String(mark.active + mark.incidents) : null;
  },
  to: (id) => nodes.get(id)?.isTarget ?? false,
  onDrop: (from, to) => stage(plan, { id: from, key: null }, to),
});
