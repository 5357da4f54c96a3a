// One modeler from its opening to its end: it is examined and kept while somebody edits.
import { type Signal, useSignal, useSignalEffect } from '@preact/signals';
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { withDiagram } from '../diagram/layout.ts';
import { t } from '../lib/i18n.ts';
import { put } from '../lib/router.ts';
import { isLost, type Kept, type Saves, type Saving, saves } from './drafts.ts';
import { createModeler, type Edits, type Modeler } from './modeler.ts';
import { type Checked, type Checks, checks, type Source } from './validation.ts';

/** The file that is opened. `kept`: the draft that it is; null if it is none. */
export type Opened = Source & { kept: Kept | null };

/** The models that this tab has edited without a draft, by the address of the page: whoever comes back goes on with them. */
export const unsaved = new Map<string, Opened>();

export type Editing = {
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

const titleOf = (modeler: Modeler): string => modeler.root().name || modeler.root().id;

export function useEditing(of: Opened, place: string) {
  const host = useRef<HTMLDivElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  const state: Editing = {
    edits: useSignal<Edits>({ canUndo: false, canRedo: false }),
    title: useSignal(t('editor.new')),
    modeler: useSignal<Modeler | null>(null),
    failed: useSignal<string | null>(null),
    checked: useSignal<Checked | null>(null),
    saving: useSignal<Saving>({ kept: of.kept, problem: null, busy: false, isDirty: false }),
    tenantId: useSignal(of.tenantId),
    isLoose: useSignal(false),
  };
  const source = async (): Promise<Source> => ({
    name: of.name,
    xml: await state.modeler.peek()!.xml(),
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
    const changed = (edits: Edits): void => {
      state.edits.value = edits;
      state.title.value = titleOf(state.modeler.peek()!);
      if (!state.saving.peek().kept) state.isLoose.value = true;
      examined?.soon();
      kept.changed();
    };
    const open = async (): Promise<void> => {
      const { xml } = await withDiagram(of.xml, undefined);
      const modeler = await createModeler(host.current!, panel.current!, xml, changed);
      if (isGone.current) return modeler.destroy();
      modeler.fit();
      state.title.value = titleOf(modeler);
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
      kept.end();
      if (!modeler) return;
      const saving = state.saving.peek();
      const isLoose = state.isLoose.peek() && (!saving.kept || isLost(saving)); // `kept` saves the others once more
      void source()
        .then((left) => isLoose && unsaved.set(place, { ...left, kept: null }))
        .finally(() => modeler.destroy());
    };
  }, []);
  return { host, panel, state, source, save, fork };
}
