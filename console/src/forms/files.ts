// The files that somebody chose in a form. Its data have marks of them, until the form is sent: then they are stored, and references stand for them.
import { type Signal, signal } from '@preact/signals';
import { Problem } from '../lib/api.ts';
import type { Command } from '../lib/commands.ts';
import { type Owner, type Reference, store, storing } from '../lib/documents.ts';

/** `sent`: bytes on their way, null before. `stored`: not sent again if what follows fails. */
export type Chosen = {
  file: File;
  sent: Signal<number | null>;
  problem: Signal<Problem | null>;
  stored: Reference | null;
};
type Data = Record<string, unknown>;

export type Files = {
  /** The mark of a file. */
  add(file: File): string;
  of(mark: unknown): Chosen | null;
  /** Whether files are being sent. */
  sending: Signal<boolean>;
  /** The data with references. Raises Problem, which the field shows, at the first file that is refused. */
  stored(data: Data, abort: AbortSignal): Promise<Data>;
  /** The data as commands show them, and the requests that store their files before. */
  shown(data: Data): { data: Data; before: Command[] };
};

/** `value` with what `found` gives for the texts in it. */
function replaced(value: unknown, found: (text: string) => unknown): unknown {
  if (typeof value === 'string') return found(value) ?? value;
  if (Array.isArray(value)) return value.map((item) => replaced(item, found));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, replaced(item, found)]));
}

export function chosenFiles(owner: Owner): Files {
  const all = new Map<string, Chosen>();
  const sending = signal(false);
  /** Those in the data: not what a condition has hidden since. */
  const within = (data: Data): Chosen[] => {
    const found = new Set<Chosen>();
    replaced(data, (text) => {
      const chosen = all.get(text);
      if (chosen) found.add(chosen);
    });
    return [...found];
  };
  const send = async (chosen: Chosen, abort: AbortSignal): Promise<void> => {
    chosen.problem.value = null;
    chosen.sent.value = 0;
    try {
      chosen.stored = await store(
        chosen.file,
        owner,
        (bytes) => {
          chosen.sent.value = bytes;
        },
        abort,
      );
    } catch (error) {
      chosen.problem.value = error instanceof Problem ? error : new Problem(-1, String(error), '');
      throw chosen.problem.value;
    } finally {
      chosen.sent.value = null;
    }
  };
  return {
    sending,
    add(file) {
      // a value that somebody types must not be taken for one
      const mark = `file::${crypto.getRandomValues(new Uint32Array(4)).join('-')}`;
      all.set(mark, { file, sent: signal(null), problem: signal(null), stored: null });
      return mark;
    },
    of: (mark) => (typeof mark === 'string' ? (all.get(mark) ?? null) : null),
    async stored(data, abort) {
      const missing = within(data).filter((chosen) => !chosen.stored);
      sending.value = missing.length > 0;
      try {
        for (const chosen of missing) await send(chosen, abort);
      } finally {
        sending.value = false;
      }
      return replaced(data, (text) => all.get(text)?.stored) as Data;
    },
    shown(data) {
      const before = within(data)
        .filter((chosen) => !chosen.stored)
        .map(({ file }) => storing(file, owner));
      const reference = ({ file, stored }: Chosen) => stored ?? { documentId: '…', metadata: { fileName: file.name } };
      return {
        before,
        data: replaced(data, (text) => {
          const chosen = all.get(text);
          return chosen && reference(chosen);
        }) as Data,
      };
    },
  };
}
