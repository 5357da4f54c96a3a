// Commands of the user: sent, confirmed with their position, or shown with their problem. Each can be copied.
import { signal } from '@preact/signals';
import { Problem, send, type Answer, type Request } from './api.ts';
import { changed } from './live.ts';

/** A request and, when the program has one, the command line that does the same. */
export type Command = Request & { cli?: string };
export type Notice = { id: number; label: string; position: string | null; ms: number; problem: Problem | null };

export const notices = signal<readonly Notice[]>([]);
let count = 0;
const DONE_MS = 8000;

export function dismiss(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}

export function notify(notice: Omit<Notice, 'id'>): void {
  const id = ++count;
  notices.value = [...notices.value.slice(-3), { ...notice, id }];
  if (!notice.problem) window.setTimeout(() => dismiss(id), DONE_MS);
}

export type Outcome<T> = { answer: Answer<T> | null; problem: Problem | null };

/** Send commands one after another, and tell the outcome under `label`. `quietly`: a problem with this status is not told. */
export async function attempt<T = unknown>(label: string, commands: readonly Command[], quietly?: number): Promise<Outcome<T>> {
  let answer: Answer<T> | null = null, ms = 0;
  try {
    for (const command of commands) {
      answer = await send<T>(command);
      ms += answer.ms;
    }
    notify({ label, position: answer?.position ?? null, ms, problem: null });
    return { answer, problem: null };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.status !== quietly) notify({ label, position: error.position, ms, problem: error });
    return { answer: null, problem: error };
  } finally {
    changed();
  }
}

/** Send commands one after another, and tell the outcome under `label`. Null if one failed. */
export const perform = async <T = unknown>(label: string, ...commands: Command[]): Promise<Answer<T> | null> =>
  (await attempt<T>(label, commands)).answer;

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The command for a shell. */
export function asCurl(command: Command, origin = location.origin): string {
  const parts = ['curl', command.method === 'GET' ? '' : `-X ${command.method}`, quote(origin + command.path)];
  if (command.method !== 'GET') parts.push("-H 'Content-Type: application/json'", `-d ${quote(JSON.stringify(command.body ?? {}))}`);
  return parts.filter(Boolean).join(' ');
}

export const asCli = (command: Command): string | null => (command.cli ? `vivero ${command.cli}` : null);

/** A position for people: its number in its partition; beyond the first, with the partition. */
export function shortPosition(position: string): string {
  const whole = BigInt(position), partition = whole >> 51n, number = whole & ((1n << 51n) - 1n);
  return partition > 1n ? `${partition}/${number}` : String(number);
}

/** Text as one argument of a shell. */
export const argument = (text: string): string => (/^[\w.:@%+=,/-]+$/.test(text) ? text : quote(text));
