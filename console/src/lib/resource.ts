// What a page reads: loaded when its key changes, read again when a hint says that a topic of it changed.
import { useSignal, type Signal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { Problem } from './api.ts';
import { subscribe } from './live.ts';

export type Resource<T> = { data: Signal<T | undefined>; problem: Signal<Problem | null>; loading: Signal<boolean>; reload: () => void };

const asProblem = (error: unknown): Problem =>
  error instanceof Problem ? error : new Problem(-1, 'CONSOLE', String((error as Error)?.message ?? error));

/** `key` names what is loaded: another key loads anew, and an empty key loads nothing. `topics`: the hints that concern it. */
export function useResource<T>(key: string, load: (abort: AbortSignal) => Promise<T>, topics: readonly string[] = []): Resource<T> {
  const data = useSignal<T | undefined>(undefined), problem = useSignal<Problem | null>(null), loading = useSignal(true);
  const again = useSignal<() => void>(() => {});
  useLayoutEffect(() => { // not after the next frame: the server can answer while the browser paints
    if (!key) { loading.value = false; return; }
    let abort = new AbortController(), gone = false;
    const run = async (): Promise<void> => {
      abort.abort();
      const mine = (abort = new AbortController());
      loading.value = true;
      try {
        const found = await load(mine.signal);
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
    void run();
    const leave = subscribe(topics, run);
    return () => { gone = true; leave(); abort.abort(); };
  }, [key, topics.join()]);
  return { data, problem, loading, reload: () => again.peek()() };
}
