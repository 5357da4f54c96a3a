// The editor of BPMN models: from a version, from a file, or a new process.
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks';
import { withDiagram } from '../diagram/layout.ts';
import { get } from '../lib/api.ts';
import type { Outcome } from '../lib/deployments.ts';
import { t } from '../lib/i18n.ts';
import { modelOf } from '../lib/models.ts';
import { useResource } from '../lib/resource.ts';
import { href } from '../lib/router.ts';
import type { Definition } from '../lib/shapes.ts';
import { Divider } from '../parts/divider.tsx';
import { Head } from '../parts/head.tsx';
import { ProblemBox } from '../parts/problem.tsx';
import { firstTenant, TenantChoice } from '../parts/tenant.tsx';
import { DeployButton, Deployed, Export, OpenFile } from './actions.tsx';
import { blank } from './blank.ts';
import { createModeler, type Edits, type Modeler } from './modeler.ts';
import { ProblemList } from './problem_list.tsx';
import { type Checked, type Checks, checks, type Source } from './validation.ts';

/** What is opened: a name for its file, and the model. */
type Opened = { name: string; xml: string; tenantId: string };

/** What this tab has edited and not deployed, by the address of its page: whoever comes back goes on with it. */
const unsaved = new Map<string, Opened>();

async function opened(key: string | undefined): Promise<Opened> {
  if (!key) {
    const id = `process_${crypto.randomUUID().slice(0, 8)}`;
    return { name: `${id}.bpmn`, xml: blank(id), tenantId: firstTenant() };
  }
  const [of, xml] = await Promise.all([get<Definition>(`/v2/process-definitions/${key}`), modelOf(key)]);
  return { name: of.resourceName.replace(/^.*\//, ''), xml, tenantId: of.tenantId };
}

type State = {
  edits: Signal<Edits>;
  title: Signal<string>;
  modeler: Signal<Modeler | null>;
  failed: Signal<string | null>;
  checked: Signal<Checked | null>;
};

/** A modeler in `host` and `panel` for what is opened; `state` follows it. */
function useModeler(of: Opened, tenantId: Signal<string>, place: string, state: State) {
  const host = useRef<HTMLDivElement>(null);
  const panel = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    let made: Modeler | null = null;
    let examined: Checks | null = null;
    let gone = false;
    const source = async (): Promise<Source> => ({ ...of, xml: await made!.xml(), tenantId: tenantId.value });
    const changed = (edits: Edits): void => {
      state.edits.value = edits;
      state.title.value = titleOf(made!);
      examined?.soon();
    };
    const open = async (): Promise<void> => {
      const { xml } = await withDiagram(of.xml, undefined);
      const modeler = await createModeler(host.current!, panel.current!, xml, changed);
      if (gone) return modeler.destroy();
      made = modeler;
      made.fit();
      state.title.value = titleOf(made);
      state.modeler.value = made;
      examined = checks(source, state.checked);
      examined.soon();
    };
    open().catch((error: Error) => {
      if (!gone) state.failed.value = error.message;
    });
    return () => {
      gone = true;
      examined?.end();
      const modeler = made;
      if (modeler && state.edits.peek().canUndo)
        void modeler
          .xml()
          .then((xml) => unsaved.set(place, { ...of, xml, tenantId: tenantId.peek() }))
          .finally(() => modeler.destroy());
      else modeler?.destroy();
    };
  }, [of]);
  return { host, panel };
}

const titleOf = (modeler: Modeler): string => modeler.root().name || modeler.root().id;

/** The browser asks before the page is left with changes that nobody has. */
function useWarning(isDirty: boolean): void {
  useEffect(() => {
    if (!isDirty) return;
    const warn = (event: BeforeUnloadEvent): void => event.preventDefault();
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, [isDirty]);
}

type EditingProps = { of: Opened; place: string; onOpen: (of: Opened) => void };

function Editing({ of, place, onOpen }: EditingProps) {
  const tenantId = useSignal(of.tenantId);
  const state: State = {
    edits: useSignal<Edits>({ canUndo: false, canRedo: false }),
    title: useSignal(t('editor.new')),
    modeler: useSignal<Modeler | null>(null),
    failed: useSignal<string | null>(null),
    checked: useSignal<Checked | null>(null),
  };
  const outcome = useSignal<{ of: Outcome; definition: Definition | null } | null>(null);
  const { host, panel } = useModeler(of, tenantId, place, state);
  const modeler = state.modeler.value;
  const { canUndo, canRedo } = state.edits.value;
  const checked = state.checked.value;
  useWarning(canUndo && !outcome.value?.of.done);
  useEffect(() => {
    modeler?.mark(new Set(checked?.problems.map((one) => one.element).filter((id) => id !== null)));
  }, [modeler, checked]);
  const source = async (): Promise<Source> => ({ ...of, xml: await modeler!.xml(), tenantId: tenantId.value });
  const actions = (
    <>
      <TenantChoice
        value={tenantId.value}
        onChange={(to) => {
          tenantId.value = to;
        }}
      />
      <button type="button" disabled={!canUndo} onClick={() => modeler!.undo()}>
        {t('editor.undo')}
      </button>
      <button type="button" disabled={!canRedo} onClick={() => modeler!.redo()}>
        {t('editor.redo')}
      </button>
      <OpenFile onOpen={(name, xml) => onOpen({ name, xml, tenantId: tenantId.value })} />
      {modeler && <Export source={source} />}
      <DeployButton
        source={source}
        disabled={!modeler}
        onOutcome={(done, definition) => {
          outcome.value = { of: done, definition };
          if (done.done) unsaved.delete(place);
        }}
      />
    </>
  );
  return (
    <div class="full">
      <Head
        title={state.title.value}
        crumbs={<a href={href('/processes')}>{t('nav.processes')}</a>}
        note={<code>{of.name}</code>}
        actions={actions}
      />
      <div class="split editing">
        <div class="canvas" data-ready={modeler || state.failed.value !== null ? '' : undefined}>
          <div class="surface" ref={host} />
          {modeler && (
            <div class="zoom">
              <button type="button" onClick={() => modeler.zoom(1.25)} aria-label={t('zoom.in')}>
                +
              </button>
              <button type="button" onClick={() => modeler.zoom(0.8)} aria-label={t('zoom.out')}>
                −
              </button>
              <button type="button" onClick={() => modeler.fit()}>
                {t('zoom.fit')}
              </button>
            </div>
          )}
          {state.failed.value !== null && (
            <div class="empty">
              <p>{t('diagram.failed')}</p>
              <p class="dim">{state.failed.value}</p>
            </div>
          )}
        </div>
        <Divider of="aside" along="x" grows={-1} least={240} most={720} usual={340} />
        <aside class="properties" aria-label={t('editor.properties')} ref={panel} />
        <section class="findings" aria-label={t('deploy.problems')} aria-live="polite">
          {outcome.value && <Deployed outcome={outcome.value.of} definition={outcome.value.definition} />}
          {modeler && modeler.lost.length > 0 && (
            <p class="wait">{t('editor.lost', { n: modeler.lost.length, first: modeler.lost[0]! })}</p>
          )}
          {state.failed.value === null && <ProblemList checked={checked} onSelect={(id) => modeler!.select(id)} />}
          <p class="dim">{t('editor.git')}</p>
        </section>
      </div>
    </div>
  );
}

/** The page. `id`: the key of the version to begin with; undefined for a new process. */
export function Editor({ id }: { id?: string }) {
  const place = id ?? '';
  const file = useSignal<Opened | null>(null);
  const files = useSignal(0);
  const found = useResource(`edit ${place}`, async () => unsaved.get(place) ?? (await opened(id)));
  const of = file.value ?? found.data.value;
  if (!of)
    return (
      <>
        <Head title={t('editor.title')} crumbs={<a href={href('/processes')}>{t('nav.processes')}</a>} />
        {found.problem.value ? (
          <ProblemBox problem={found.problem.value} of={['/processes', 'nav.processes']} />
        ) : (
          <p class="dim loading">{t('loading')}</p>
        )}
      </>
    );
  return (
    <Editing
      key={files.value}
      of={of}
      place={place}
      onOpen={(from) => {
        file.value = from;
        files.value += 1;
      }}
    />
  );
}
