// The mark of suspended instances. All that a page shows are looked up together, and again when instances change.
import { signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { ifAllowed, Problem, search } from '../lib/api.ts';
import { subscribe } from '../lib/live.ts';
import type { Instance } from '../lib/shapes.ts';
import { State } from './state.tsx';

const MOST = 1000;
/** The key of an instance → how many parts of the page ask. */
const asking = new Map<string, number>();
const suspended = signal<ReadonlySet<string>>(new Set());
let leave: (() => void) | null = null;
let soon = 0;
let turn = 0;

async function look(): Promise<void> {
  const keys = [...asking.keys()].slice(0, MOST);
  const mine = ++turn;
  if (!keys.length) return;
  const filter = { state: 'SUSPENDED', processInstanceKey: { $in: keys } };
  try {
    const found = await ifAllowed(search<Instance>('process-instances', { filter, page: { limit: keys.length } }));
    if (mine === turn) suspended.value = new Set(found?.items.map((one) => one.processInstanceKey));
  } catch (error) {
    if (!(error instanceof Problem)) throw error; // of an outage the page itself tells
  }
}

function join(key: string): () => void {
  asking.set(key, (asking.get(key) ?? 0) + 1);
  leave ??= subscribe(['instances'], look, Date.now());
  window.clearTimeout(soon);
  soon = window.setTimeout(look, 0);
  return () => {
    const others = asking.get(key)! - 1;
    if (others) asking.set(key, others);
    else asking.delete(key);
    if (asking.size) return;
    leave?.();
    leave = null;
  };
}

/** Whether an instance is suspended, as far as the page knows. */
export function useSuspended(key: string | null): boolean {
  useLayoutEffect(() => (key === null ? undefined : join(key)), [key]);
  return key !== null && suspended.value.has(key);
}

export const Held = ({ of }: { of: string | null }) => (useSuspended(of) ? <State of="SUSPENDED" /> : null);
