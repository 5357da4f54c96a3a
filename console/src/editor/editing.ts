// One modeler from its opening to its end: it is examined and kept while somebody edits.
import { type Signal, useSignal, useSignalEffect } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { Problem } from '../lib/api.ts';
import { notify } from '../lib/commands.ts';
import { t } from '../lib/i18n.ts';
import { put } from '../lib/router.ts';
import { isLost, type Kept, type Saves, type Saving, saves } from './drafts.ts';
import { type Edits, KINDS, type Kind, kindOf, type Modeler, type OnChange } from './kinds.ts';
import { type Checked, type Checks, checks, type Source } from './validation.ts';

/** The file that is opened. `kept`: the draft that it is; null if it is none. */
export type Opened = Source & { kept: Kept | null };

/** The models that this tab has edited without a draft, by the address of the page: whoever comes back goes on with them. */
export const unsaved = new Map<string, Promise<Opened | null>>();

export type Editing = {
  kind: Kind;
  edits: Signal<Edits>;
  title: Signal<string>;
  modeler: Signal<Modeler | null>;
  failed: Signal<string | null>;
  checked: Signal<Checked | null>;
  saving: Signal<Saving>;
  tenantId: Signal<string>;
  /** Whether there are changes that are neither a draft nor deployed, also because the draft could not be saved. */
  isLoose: Signal<boolean>;
};

export function useEditing(of: Opened, place: string) {
  const host = useRef<HTMLDivElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const kind = useMemo(() => kindOf(of.content), []);
  const state: Editing = {
    kind,
    edits: useSignal<Edits>({ canUndo: false, canRedo: false }),
    title: useSignal(KINDS[kind].title()),
    modeler: useSignal<Modeler | null>(null),
    failed: useSignal<string | null>(null),
    checked: useSignal<Checked | null>(null),
    saving: useSignal<Saving>({ kept: of.kept, problem: null, busy: false, isDirty: false }),
    tenantId: useSignal(of.tenantId),
    isLoose: useSignal(false),
  };
  const source = async (): Promise<Source> => ({
    name: of.name,
    content: await state.modeler.peek()!.content(),
    tenantId: state.tenantId.peek(),
  });
  const kept: Saves = useMemo(() => saves(source, state.saving), []);
  const isGone = useRef(false);
  useSignalEffect(() => {
    const { kept, problem } = state.saving.value;
    if (problem) state.isLoose.value = true;
    else if (kept) state.isLoose.value = false;
  });
  /** The address is that of the draft from now on. */
  const settled = (): void => {
    const key = state.saving.peek().kept?.key;
    if (!key || state.saving.peek().problem) return;
    unsaved.delete(place);
    if (!isGone.current) put({ draft: key }); // another page may be there when the answer comes
  };
  const save = (): Promise<void> => kept.now().then(settled);
  const fork = (): Promise<void> => kept.fork().then(settled);
  useLayoutEffect(() => {
    let examined: Checks | null = null;
    const changed: OnChange = (edits, isModel) => {
      state.edits.value = edits;
      if (!isModel) return;
      state.title.value = state.modeler.peek()!.title();
      if (!state.saving.peek().kept) state.isLoose.value = true;
      examined?.soon();
      kept.changed();
    };
    const open = async (): Promise<void> => {
      const create = await KINDS[kind].create();
      if (isGone.current) return;
      const modeler = await create(host.current!, panel.current!, of.content, changed);
      if (isGone.current) return modeler.destroy();
      state.title.value = modeler.title();
      state.modeler.value = modeler;
      examined = checks(source, state.checked);
      examined.soon();
    };
    open().catch((error: Error) => {
      if (!isGone.current) state.failed.value = error.message;
    });
    return () => {
      isGone.current = true;
      examined?.end();
      const modeler = state.modeler.peek();
      if (!modeler) return;
      const left = source()
        .then((left) => {
          kept.end(left); // only now the last changes are known
          const saving = state.saving.peek();
          return state.isLoose.peek() && (!saving.kept || isLost(saving)) ? { ...left, kept: null } : null;
        })
        .catch((error: Error) => {
          const problem = new Problem(-1, 'CONSOLE', error.message);
          notify({ label: t('editor.notKept'), commands: [], position: null, ms: 0, problem });
          return null; // the page opens with the version again
        })
        .finally(() => modeler.destroy());
      unsaved.set(place, left);
    };
  }, []);
  return { host, panel, state, source, save, fork };
}
