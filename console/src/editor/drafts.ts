// Drafts on the server: the first save makes one, and every pause after it saves the next version of it.
import type { Signal } from '@preact/signals';
import { get, Problem, send } from '../lib/api.ts';
import { t } from '../lib/i18n.ts';
import { tenantOf } from '../parts/tenant.tsx';
import type { Source } from './validation.ts';

type Draft = {
  modelDraftKey: string;
  name: string;
  content: string;
  version: number;
  tenantId: string;
  updatedBy: string;
  lastUpdatedDate: string;
};
/** The newest version that this page has seen. */
export type Kept = { key: string; version: number; by: string; at: string };
/** `problem`: why the newest changes are not kept. `isDirty`: the draft lacks changes, which may be on their way. */
export type Saving = { kept: Kept | null; problem: Problem | null; busy: boolean; isDirty: boolean };
export type Saves = { changed(): void; now(): Promise<void>; fork(): Promise<void>; end(left: Source): void };

/** The user must have stopped for this time. */
const PAUSE_MS = 5_000;

/** The server takes as many characters, in a body of as many bytes, of which the rest of a request needs few. */
const MOST_CHARACTERS = 1_000_000;
const MOST_BYTES = 4 * 1024 * 1024 - 4096;

/** Why the server would refuse a draft; null if it would not. A file that is small enough by far is not measured. */
function tooLarge(content: string): Problem | null {
  if (content.length <= MOST_BYTES / 8) return null;
  const fits =
    [...content].length <= MOST_CHARACTERS && new TextEncoder().encode(JSON.stringify(content)).length <= MOST_BYTES;
  return fits ? null : new Problem(413, t('draft.tooLarge'), t('draft.tooLargeNote'));
}

const keptOf = (of: Pick<Draft, 'modelDraftKey' | 'version' | 'updatedBy' | 'lastUpdatedDate'>): Kept => ({
  key: of.modelDraftKey,
  version: of.version,
  by: of.updatedBy,
  at: of.lastUpdatedDate,
});

/** A draft with its content. Raises Problem. */
export async function draftOf(key: string): Promise<Source & { kept: Kept }> {
  const draft = await get<Draft>(`/v2/model-drafts/${key}`);
  return { name: draft.name, content: draft.content, tenantId: draft.tenantId, kept: keptOf(draft) };
}

async function keep({ name, content, tenantId }: Source, kept: Kept | null): Promise<Kept> {
  const problem = tooLarge(content);
  if (problem) throw problem;
  const request = kept
    ? {
        method: 'PUT' as const,
        path: `/v2/model-drafts/${kept.key}`,
        body: { name, content },
        ifMatch: `"${kept.version}"`,
      }
    : { method: 'POST' as const, path: '/v2/model-drafts', body: { name, content, ...tenantOf(tenantId) } };
  return keptOf((await send<Draft>(request)).body);
}

/** Somebody else has changed or deleted the draft: saving again would not help. */
export const isLost = ({ problem }: Saving): boolean => problem?.status === 412 || problem?.status === 404;

/** Keeps what `source` gives, one request at a time. Without a draft, changes wait for `now`. */
export function saves(source: () => Promise<Source>, state: Signal<Saving>): Saves {
  let timer = 0;
  let isDirty = false;
  let left: Source | null = null;
  const set = (to: Partial<Saving>): void => {
    state.value = { ...state.peek(), ...to };
  };
  const later = (): void => {
    window.clearTimeout(timer);
    if (state.peek().kept && !isLost(state.peek())) timer = window.setTimeout(() => void save(), PAUSE_MS);
  };
  async function save(): Promise<void> {
    window.clearTimeout(timer);
    if (state.peek().busy) return;
    isDirty = false;
    set({ busy: true, isDirty: true });
    try {
      set({ kept: await keep(left ?? (await source()), state.peek().kept), problem: null, busy: false, isDirty });
    } catch (error) {
      set({ busy: false });
      if (!(error instanceof Problem)) throw error;
      isDirty = true;
      set({ problem: error });
    }
    if (!isDirty || isLost(state.peek())) return;
    if (!left) later();
    else if (!state.peek().problem) await save(); // what changed during the last request, after the page has gone
  }
  return {
    changed() {
      isDirty = true;
      set({ isDirty });
      later();
    },
    now: save,
    async fork() {
      set({ kept: null, problem: null });
      await save();
    },
    end(last) {
      window.clearTimeout(timer);
      if (!isDirty || !state.peek().kept || isLost(state.peek())) return;
      left = last;
      void save();
    },
  };
}
