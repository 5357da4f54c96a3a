// The editor of processes, decisions and forms: from a version, from a file, or a new one.
import './editor.css';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { get } from '../lib/api.ts';
import type { Outcome } from '../lib/deployments.ts';
import { t } from '../lib/i18n.ts';
import { modelOf } from '../lib/models.ts';
import { useResource } from '../lib/resource.ts';
import { href, put, query } from '../lib/router.ts';
import { DEPLOY } from '../lib/session.ts';
import type { DecisionDefinition, Definition, Form } from '../lib/shapes.ts';
import { Act } from '../parts/act.tsx';
import { Divider } from '../parts/divider.tsx';
import { Head } from '../parts/head.tsx';
import { ProblemBox } from '../parts/problem.tsx';
import { firstTenant, TenantChoice } from '../parts/tenant.tsx';
import { DeployButton, Deployed, Export, OpenFile } from './actions.tsx';
import { Templates } from './bpmn/templates/choice.tsx';
import { DraftState } from './draft_state.tsx';
import { draftOf } from './drafts.ts';
import { type Opened, unsaved, useEditing } from './editing.ts';
import { type DecisionModeler, KINDS, type Kind } from './kinds.ts';
import { ProblemList } from './problem_list.tsx';
import { Trial } from './trial.tsx';
import { isHeldBack } from './typing.ts';

const nameOf = (resource: string): string => resource.replace(/^.*\//, '');

function fresh(kind: Kind): Opened {
  const id = `${KINDS[kind].prefix}_${crypto.randomUUID().slice(0, 8)}`;
  return { name: `${id}.${kind}`, content: KINDS[kind].blank(id), tenantId: firstTenant(), kept: null };
}

async function opened({ key, decision, form, kind }: Place, draft: string | null): Promise<Opened> {
  if (draft) return draftOf(draft);
  if (decision) {
    const of = await get<DecisionDefinition>(`/v2/decision-definitions/${decision}`);
    const [file, content] = await Promise.all([
      get<{ resourceName: string }>(`/v2/decision-requirements/${of.decisionRequirementsKey}`),
      modelOf(decision, 'decision-definitions'),
    ]);
    return { name: nameOf(file.resourceName), content, tenantId: of.tenantId, kept: null };
  }
  if (form) {
    const of = await get<Form>(`/v2/forms/${form}`);
    return { name: `${of.formId}.form`, content: of.schema, tenantId: of.tenantId, kept: null };
  }
  if (!key) return fresh(kind);
  const [of, content] = await Promise.all([get<Definition>(`/v2/process-definitions/${key}`), modelOf(key)]);
  return { name: nameOf(of.resourceName), content, tenantId: of.tenantId, kept: null };
}

/** The browser asks before the page is left with changes that nobody has, or with a text that is not in the model yet. */
function useWarning(isDirty: boolean): void {
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent): void => {
      if (isDirty || isHeldBack()) event.preventDefault();
    };
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, [isDirty]);
}

const Crumbs = ({ kind }: { kind: Kind }) => {
  const [to, text] = KINDS[kind].crumbs;
  return <a href={href(to)}>{t(text)}</a>;
};

/** The diagram of a file of decisions, or the logic of one of its elements. */
function ViewChoice({ modeler }: { modeler: DecisionModeler }) {
  const { shown, all } = modeler.views.value;
  return (
    <select
      aria-label={t('editor.view')}
      value={shown}
      onChange={(event) => void modeler.open(event.currentTarget.value)}
    >
      {all.map(({ id, name }, i) => (
        <option key={id} value={id}>
          {i === 0 ? t('editor.diagram') : name}
        </option>
      ))}
    </select>
  );
}

type EditingProps = { of: Opened; place: string; onOpen: (of: Opened) => void };

function Editing({ of, place, onOpen }: EditingProps) {
  const trying = useSignal(false);
  const data = { variables: useSignal(''), answers: useSignal('') };
  const outcome = useSignal<{ of: Outcome; definition: Definition | null } | null>(null);
  const { host, panel, state, source, save, fork } = useEditing(of, place);
  const modeler = state.modeler.value;
  const { tenantId } = state;
  const { canUndo, canRedo } = state.edits.value;
  const checked = state.checked.value;
  useWarning(state.isLoose.value || (!!state.saving.value.kept && state.saving.value.isDirty));
  useEffect(() => {
    modeler?.mark(new Set(checked?.problems.map((one) => one.element).filter((id) => id !== null)));
  }, [modeler, checked]);
  /** Open what somebody else has saved. The user gives up the own changes. */
  const reload = async (): Promise<void> => {
    const theirs = await draftOf(state.saving.peek().kept!.key);
    state.isLoose.value = false;
    onOpen(theirs);
  };
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
      <OpenFile onOpen={(name, content) => onOpen({ name, content, tenantId: tenantId.value, kept: null })} />
      {modeler?.kind === 'dmn' && <ViewChoice modeler={modeler} />}
      {modeler && <Export source={source} />}
      <button
        type="button"
        disabled={!modeler}
        aria-pressed={trying.value}
        onClick={() => {
          trying.value = !trying.value;
        }}
      >
        {t('trial.title')}
      </button>
      <Act need={DEPLOY} disabled={!modeler || state.saving.value.busy} onClick={() => void save()}>
        {t('draft.save')}
      </Act>
      <DeployButton
        source={source}
        disabled={!modeler}
        onOutcome={(done, definition) => {
          outcome.value = { of: done, definition };
          if (!done.done) return;
          state.isLoose.value = false;
          unsaved.delete(place);
        }}
      />
    </>
  );
  return (
    <div class="full">
      <Head
        title={state.title.value}
        crumbs={<Crumbs kind={state.kind} />}
        note={<code>{of.name}</code>}
        actions={actions}
      />
      <div class="split editing">
        <div class="canvas" data-ready={modeler || state.failed.value !== null ? '' : undefined}>
          <div class="surface" ref={host} />
          {modeler?.kind === 'bpmn' && (
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
              <p>{t('editor.failed')}</p>
              <p class="dim">{state.failed.value}</p>
            </div>
          )}
        </div>
        <Divider of="aside" along="x" grows={-1} least={240} most={720} usual={340} />
        <aside class="properties" aria-label={t('editor.properties')} ref={panel} />
        <section class="findings" aria-label={t('deploy.problems')} aria-live="polite">
          {outcome.value && <Deployed outcome={outcome.value.of} definition={outcome.value.definition} />}
          {trying.value && modeler && <Trial source={source} modeler={modeler} data={data} />}
          <DraftState saving={state.saving} save={save} fork={fork} reload={reload} />
          {modeler && modeler.lost.length > 0 && (
            <p class="wait">{t('editor.lost', { n: modeler.lost.length, first: modeler.lost[0]! })}</p>
          )}
          {state.failed.value === null && <ProblemList checked={checked} onSelect={(id) => modeler!.select(id)} />}
          {modeler?.kind === 'bpmn' && <Templates offer={modeler.templates} tenantId={tenantId} />}
          <p class="dim">{t('editor.git')}</p>
        </section>
      </div>
    </div>
  );
}

/** The edited model: a version by its key, or a new model of this kind. */
type Place = { key: string | undefined; decision: string | null; form: string | null; kind: Kind };

const isKind = (text: string | null): text is Kind => text !== null && Object.hasOwn(KINDS, text);

/** The page. `id`: the key of a version of a process. The query of the address has that of a decision or form, the kind of a new model, or a draft. */
export function Editor({ id }: { id?: string }) {
  const decision = query.value.get('decision');
  const form = query.value.get('form');
  const fresh = query.value.get('new');
  const kind = isKind(fresh) ? fresh : 'bpmn';
  const place = id ?? decision ?? form ?? (kind === 'bpmn' ? '' : kind);
  return <Opening key={place} place={place} of={{ key: id, decision, form, kind }} />;
}

const kindAt = ({ decision, form, kind }: Place): Kind => (decision ? 'dmn' : form ? 'form' : kind);

function Opening({ place, of: wanted }: { place: string; of: Place }) {
  const file = useSignal<Opened | null>(null);
  const files = useSignal(0);
  const found = useResource(`edit ${place}`, async () => {
    const draft = query.peek().get('draft');
    const left = draft ? null : await unsaved.get(place); // null, too, if nothing was changed there
    return left ?? (await opened(wanted, draft));
  });
  const of = file.value ?? found.data.value;
  const open = (from: Opened): void => {
    put({ draft: from.kept?.key ?? null });
    file.value = from;
    files.value += 1;
  };
  if (!of)
    return (
      <>
        <Head title={t('edit')} crumbs={<Crumbs kind={kindAt(wanted)} />} />
        {found.problem.value ? (
          <ProblemBox problem={found.problem.value} of={['/processes', 'nav.processes']} />
        ) : (
          <p class="dim loading">{t('loading')}</p>
        )}
      </>
    );
  return <Editing key={files.value} of={of} place={place} onOpen={open} />;
}
