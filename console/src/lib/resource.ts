// Data of a page: loaded when its key changes, read again when a hint says that a topic of it changed.
import { type Signal, useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { Problem } from './api.ts';
import { subscribe } from './live.ts';

export type Resource<T> = {
  data: Signal<T | undefined>;
  problem: Signal<Problem | null>;
  loading: Signal<boolean>;
  reload: () => void;
};

const asProblem = (error: unknown): Problem =>
  error instanceof Problem ? error : new Problem(-1, 'CONSOLE', String((error as Error)?.message ?? error));

const asked = new Map<string, { answer: Promise<unknown>; at: number }>();

/** Put an answer, which is on its way, where the resource with this key takes it when it is first loaded. */
export function ask(key: string, answer: Promise<unknown>): void {
  answer.catch(() => {}); // the page that takes it tells what is wrong
  asked.set(key, { answer, at: Date.now() });
}

/** The answer that was asked for before, once. */
function taken<T>(key: string): Promise<T> | undefined {
  const found = asked.get(key)?.answer as Promise<T> | undefined;
  asked.delete(key);
  return found;
}

/** `key` names what is loaded: another key loads anew, and an empty key loads nothing. `topics`: the hints that concern it. */
export function useResource<T>(
  key: string,
  load: (abort: AbortSignal) => Promise<T>,
  topics: readonly string[] = [],
): Resource<T> {
  const data = useSignal<T | undefined>(undefined);
  const problem = useSignal<Problem | null>(null);
  const loading = useSignal(true);
  const again = useSignal<() => void>(() => {});
  useLayoutEffect(() => {
    // not after the next frame: the server can answer while the browser paints
    if (!key) {
      loading.value = false;
      return;
    }
    let abort = new AbortController();
    let gone = false;
    const run = async (): Promise<void> => {
      abort.abort();
      const mine = new AbortController();
      abort = mine;
      loading.value = true;
      try {
        const found = await (taken<T>(key) ?? load(mine.signal));
        if (gone || mine.signal.aborted) return;
        data.value = found;
        problem.value = null;
      } catch (error) {
        if (gone || mine.signal.aborted) return;
        problem.value = asProblem(error);
      }
      loading.value = false;
    };
    again.value = () => void run();
    const leave = subscribe(topics, run, asked.get(key)?.at ?? Date.now());
    void run();
    return () => {
      gone = true;
      leave();
      abort.abort();
    };
  }, [key, topics.join()]);
  return { data, problem, loading, reload: () => again.peek()() };
}
