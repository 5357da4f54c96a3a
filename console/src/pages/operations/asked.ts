// The server's answer to what a command would do: asked for on demand, and forgotten when the command is another one.
import { useSignal } from '@preact/signals';
import type { Problem } from '../../lib/api.ts';
import type { Command } from '../../lib/commands.ts';

export function useAsked<T>(command: Command, load: (command: Command) => Promise<T>) {
  const asked = useSignal<{ body: string; answer: T } | null>(null);
  const failed = useSignal<Problem | null>(null);
  const busy = useSignal(false);
  const body = JSON.stringify(command.body);
  const ask = async (): Promise<void> => {
    busy.value = true;
    failed.value = null;
    try {
      asked.value = { body, answer: await load(command) };
    } catch (error) {
      failed.value = error as Problem;
    }
    busy.value = false;
  };
  const answer = asked.value?.body === body ? asked.value.answer : null;
  return { ask, busy: busy.value, failed: failed.value, answer };
}
