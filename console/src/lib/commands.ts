// Commands of the user: sent, confirmed with their position, or shown with their problem. Each can be copied.
import { signal } from '@preact/signals';
import { type Answer, Problem, type Request, send } from './api.ts';
import { changed } from './live.ts';
import { isOpen } from './session.ts';

/** A request and, when the program has one, the command line that does the same. Null: the command line of the next one does this, too. `done` is called when it has succeeded, whatever becomes of the next ones. */
export type Command = Request & { cli?: string | null; done?: () => void };
export type Notice = {
  id: number;
  label: string;
  commands: readonly Command[];
  position: string | null;
  ms: number;
  problem: Problem | null;
  /** The key of a batch that the command has begun. */
  batch?: string | undefined;
};

export const notices = signal<readonly Notice[]>([]);
let count = 0;
const DONE_MS = 8000;

/** Notices that somebody reads stay. */
const kept = new Set<number>();
export const keep = (id: number): void => {
  kept.add(id);
};

export function dismiss(id: number): void {
  kept.delete(id);
  notices.value = notices.value.filter((notice) => notice.id !== id);
}

export function notify(notice: Omit<Notice, 'id'>): void {
  const id = ++count;
  notices.value = [...notices.value.slice(-3), { ...notice, id }];
  if (!notice.problem)
    window.setTimeout(() => {
      if (!kept.has(id)) dismiss(id);
    }, DONE_MS);
}

export type Outcome<T> = { answer: Answer<T> | null; problem: Problem | null };

/** Send commands one after another, and tell the outcome under `label`. `quietly`: a problem with this status is not told. */
export async function attempt<T = unknown>(
  label: string,
  commands: readonly Command[],
  quietly?: number,
): Promise<Outcome<T>> {
  let answer: Answer<T> | null = null;
  let ms = 0;
  try {
    for (const command of commands) {
      answer = await send<T>(command);
      command.done?.();
      ms += answer.ms;
    }
    const { batchOperationKey: batch } = (answer?.body || {}) as { batchOperationKey?: string };
    notify({ label, commands, position: answer?.position ?? null, ms, problem: null, batch });
    return { answer, problem: null };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.status !== quietly) notify({ label, commands, position: error.position, ms, problem: error });
    return { answer: null, problem: error };
  } finally {
    changed();
  }
}

/** Send commands one after another, and tell the outcome under `label`. Null if one failed. */
export const perform = async <T = unknown>(label: string, ...commands: Command[]): Promise<Answer<T> | null> =>
  (await attempt<T>(label, commands)).answer;

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** A body for a shell: files by their names, and no password. */
function asData(body: unknown): string[] {
  if (body instanceof FormData)
    return [...body].map(
      ([name, value]) => `-F ${quote(`${name}=${value instanceof File ? `@${value.name}` : value}`)}`,
    );
  return [
    "-H 'Content-Type: application/json'",
    `-d ${quote(JSON.stringify(body ?? {}, (name, value: unknown) => (name === 'password' ? 'PASSWORD' : value)))}`,
  ];
}

/** The command for a shell. With authentication it takes its token from the environment, as `vivero` does. */
export function asCurl({ method, path, body }: Command, origin = location.origin): string {
  const token = isOpen.peek() ? [] : ['-H "Authorization: Bearer $VIVERO_TOKEN"'];
  return ['curl', `-X ${method}`, quote(origin + path), ...token, ...asData(body)].join(' ');
}

/** The lines of the program that do the same; null where it has no command. */
export const asCli = (commands: readonly Command[]): (string | null)[] =>
  commands
    .map(({ cli }) => cli)
    .filter((cli) => cli !== null)
    .map((cli) => (cli === undefined ? null : `vivero ${cli}`));

/** The intent of a command for people: of a conditional one that of its change. */
export function wordsOf(intent: string, change: string | null = null): string {
  const words = (change ?? intent).toLowerCase().replaceAll('_', ' ').replace(':', ' · ');
  return change ? `${words} (If-Match)` : words;
}

/** A position for people: its number in its partition; beyond the first, with the partition. */
export function shortPosition(position: string): string {
  const whole = BigInt(position);
  const partition = whole >> 51n;
  const number = whole & ((1n << 51n) - 1n);
  return partition > 1n ? `${partition}/${number}` : String(number);
}

/** Variables as an option of a command line; nothing without any. */
export const variablesOption = (variables: Record<string, unknown> | undefined): string =>
  variables && Object.keys(variables).length ? ` --variables ${argument(JSON.stringify(variables))}` : '';

/** Text as one argument of a shell. */
export const argument = (text: string): string => (/^[\w.:@%+=,/-]+$/.test(text) ? text : quote(text));
