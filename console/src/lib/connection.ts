// Whether the server answers. While it is away, the console asks for it again and again, and then reads everything anew.
import { signal } from '@preact/signals';

const FIRST_MS = 1000;
const SLOWEST_MS = 10_000;

/** The server, or the database behind it, cannot be reached. */
export const away = signal(false);

const returned = new Set<() => void>();

/** Call this when the server is there again. */
export function onReturn(call: () => void): void {
  returned.add(call);
}

async function isThere(): Promise<boolean> {
  try {
    return (await fetch('/v2/status', { cache: 'no-store' })).ok;
  } catch {
    return false;
  }
}

async function ask(pause: number): Promise<void> {
  if (!away.peek()) return;
  if (!(await isThere())) {
    window.setTimeout(() => void ask(Math.min(SLOWEST_MS, pause * 1.5)), pause);
    return;
  }
  away.value = false;
  for (const call of returned) call();
}

/** A request failed because nobody answered, or a proxy did. */
export function lost(): void {
  if (away.peek()) return;
  away.value = true;
  window.setTimeout(() => void ask(FIRST_MS), FIRST_MS);
}
