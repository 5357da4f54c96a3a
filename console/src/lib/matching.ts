// Why a message finds nobody: what is nearly right.
import type { Subscription } from './shapes.ts';

export type Verdict =
  | { kind: 'waits' | 'starts'; of: Subscription }
  | { kind: 'otherKey'; of: Subscription; isAlike: boolean }
  | { kind: 'otherName'; of: Subscription }
  | { kind: 'nothing' };

const plain = (text: string): string => text.trim().toLowerCase().replace(/^"|"$/g, '');
const isStart = (of: Subscription): boolean => of.messageSubscriptionType === 'START_EVENT';

/** Subscriptions in their relation to a message, the nearest first. `named` have its name, `keyed` have its key. */
export function verdicts(
  name: string,
  key: string,
  named: readonly Subscription[],
  keyed: readonly Subscription[],
): Verdict[] {
  const waits = named
    .filter((of) => !isStart(of) && of.correlationKey === key)
    .map((of) => ({ kind: 'waits' as const, of }));
  const starts = named.filter(isStart).map((of) => ({ kind: 'starts' as const, of }));
  const otherKeys = named
    .filter((of) => !isStart(of) && of.correlationKey !== key)
    .map((of) => ({ kind: 'otherKey' as const, of, isAlike: plain(of.correlationKey ?? '') === plain(key) }));
  const otherNames = keyed.filter((of) => of.messageName !== name).map((of) => ({ kind: 'otherName' as const, of }));
  const found: Verdict[] = [
    ...waits,
    ...starts,
    ...otherKeys.sort((a, b) => Number(b.isAlike) - Number(a.isAlike)),
    ...otherNames,
  ];
  return found.length ? found : [{ kind: 'nothing' }];
}
