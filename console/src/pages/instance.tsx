// A process instance: where it is and why, what it knows, what happened, and the cure, on one page.
import { useComputed, useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useRef } from 'preact/hooks';
import { Canvas, warmUp } from '../diagram/canvas.tsx';
import { marksOf } from '../diagram/marks.ts';
import { endsWithOperation, fold, type Shown, type Step, stepsOf, type View, visible } from '../history/fold.ts';
import { Scrubber } from '../history/scrubber.tsx';
import { aroundInner, hasAgents } from '../lib/ad_hoc.ts';
import { get, Problem } from '../lib/api.ts';
import { compensationIn } from '../lib/compensation.ts';
import { t } from '../lib/i18n.ts';
import { instanceOf, presentOf } from '../lib/instance.ts';
import { pageKey } from '../lib/keys.ts';
import { loopsIn } from '../lib/loops.ts';
import { drawnOf } from '../lib/models.ts';
import { flowNodesOf } from '../lib/operations/flow_nodes.ts';
import { plannedOf } from '../lib/operations/modification.ts';
import { useResource } from '../lib/resource.ts';
import { href, put, query } from '../lib/router.ts';
import { inspector } from '../lib/settings.ts';
import type { CallHierarchy, History, Instance as InstanceShape } from '../lib/shapes.ts';
import { instancesUrl, processUrl } from '../lib/urls.ts';
import { Divider } from '../parts/divider.tsx';
import { Head } from '../parts/head.tsx';
import { Late } from '../parts/late.tsx';
import { Opened } from '../parts/lazy.tsx';
import { ProblemBox } from '../parts/problem.tsx';
import { State } from '../parts/state.tsx';
import { KeyText, Time } from '../parts/time.tsx';
import { hasAdHoc, loadAdHocs } from './ad_hoc.tsx';
import { Inspector } from './inspector.tsx';
import { InstanceActions } from './instance_actions.tsx';
import type { PanelProps } from './modification/panel.tsx';
import { carryingOf, stage, usePlan } from './modification/plan.ts';

warmUp();

const panel = async (): Promise<ComponentType<PanelProps>> => (await import('./modification/panel.tsx')).Panel;

type Past = { steps: Step[]; shown: Shown[]; more: boolean };

/** The events of the instance tree: a first page of up to 10,000 rows of the log. Only those after the known ones are asked for: those of a large loop are megabytes. */
async function loadHistory(key: string, known: Past, abort: AbortSignal): Promise<Past> {
  if (known.more) return known;
  const last = known.steps.at(-1)?.position;
  try {
    const history = await get<History>(`/v2/process-instances/${key}/events${last ? `?after=${last}` : ''}`, abort);
    if (!history.items.length) return known;
    const steps = [...known.steps, ...stepsOf(history)];
    return { steps, shown: visible(steps), more: history.next !== null };
  } catch (error) {
    if (error instanceof Problem && (error.status === 404 || error.status === 403))
      return { steps: [], shown: [], more: false };
    throw error;
  }
}

function HeatButton() {
  const heat = query.value.get('heat') !== null;
  return (
    <button type="button" aria-pressed={heat} onClick={() => put({ heat: heat ? null : 1 })}>
      {t('heat')}
    </button>
  );
}

function Title({ instance }: { instance: InstanceShape }) {
  return (
    <>
      {instance.businessId ?? instance.processDefinitionName ?? instance.processDefinitionId}{' '}
      <State of={instance.state} incident={instance.hasIncident} /> <Late of={instance} />
    </>
  );
}

function Crumbs({ instance, callers }: { instance: InstanceShape; callers: CallHierarchy[] }) {
  const above = callers.filter((caller) => caller.processInstanceKey !== instance.processInstanceKey);
  return (
    <>
      <a href={instancesUrl(instance.processDefinitionId, instance.tenantId)}>{t('nav.instances')}</a> /{' '}
      <a
        href={processUrl(instance.processDefinitionId, instance.tenantId, {
          version: instance.processDefinitionVersion,
        })}
      >
        {instance.processDefinitionName ?? instance.processDefinitionId}
      </a>{' '}
      <span class="dim">v{instance.processDefinitionVersion}</span>
      {above.map((caller) => (
        <span key={caller.processInstanceKey}>
          {' '}
          ·{' '}
          <a href={href(`/instances/${caller.processInstanceKey}`)}>
            {t('calledBy', { name: caller.processDefinitionName })}
          </a>
        </span>
      ))}
    </>
  );
}

/** The step after which the page shows the instance; null for the present. The URL holds the position of its command. */
function useAt(steps: Step[]): [number | null, (at: number | null) => void] {
  const position = query.value.get('at');
  if (position === null || !steps.length)
    return [null, (at) => put({ at: at === null ? null : `${steps[at - 1]!.position}.${at}` })];
  const [command, step] = position.split('.');
  const exact = step ? Number(step) : steps.findLastIndex((s) => s.position === command) + 1;
  return [
    Math.max(1, Math.min(steps.length, exact || 1)),
    (at) => put({ at: at === null ? null : `${steps[at - 1]!.position}.${at}` }),
  ];
}

const EMPTY: View = fold([], '');
const NO_PAST: Past = { steps: [], shown: [], more: false };

export function Instance({ id }: { id: string }) {
  const topics = [`instance:${id}`];
  const itself = useResource(`itself ${id}`, (abort) => instanceOf(id, abort)); // with it the diagram is drawn while the rest arrives
  const found = useResource(`instance ${id}`, (abort) => presentOf(id, abort), topics);
  const known = useRef(NO_PAST);
  const past = useResource(`history ${id}`, (abort) => loadHistory(id, known.current, abort), topics);
  known.current = past.data.value ?? NO_PAST;
  const now = found.data.value;
  const instance = now?.instance ?? itself.data.value;
  const { steps, shown, more } = past.data.value ?? NO_PAST;
  const [at, setAt] = useAt(steps);
  const view = at === null && !steps.length ? EMPTY : fold(steps, id, at ?? steps.length);
  const definition = (at !== null && view.definition) || (instance?.processDefinitionKey ?? ''); // the past may be that of another model
  const model = useResource(definition && `model ${definition}`, () => drawnOf(definition, instance!)).data;
  const adHocs = useResource(
    now && !instance?.endDate && model.value && hasAdHoc(model.value.xml) ? `ad-hoc ${id}` : '',
    (abort) => loadAdHocs(id, abort),
    topics,
  );
  const names = useSignal(new Map<string, string>());
  const plan = usePlan();
  const compensation = useComputed(() => (model.value ? compensationIn(model.value.xml) : null)).value;
  const present = useComputed(() => {
    if (!found.data.value) return EMPTY.marks;
    const { statistics, flows } = found.data.value;
    const wrong = plan.problems.value.map(({ elementId }) => elementId);
    const offered = (adHocs.data.value ?? []).flatMap((one) => one.elements.map(({ elementId }) => elementId));
    const planned = plannedOf(plan.changes.value, statistics, wrong);
    return { ...marksOf(statistics, flows), offered: new Set(offered), planned };
  }).value;
  const heat = query.value.get('heat') !== null;
  const selected = query.value.get('element') ?? (at === null ? (now?.incidents[0]?.elementId ?? null) : null);
  const modifying = query.value.get('modify') !== null && at === null && instance?.state === 'ACTIVE';
  const select = (element: string | null) => {
    const source = plan.aiming.peek();
    if (source && element && element !== source.id) stage(plan, source, element);
    else put({ element, scope: null });
  };
  const loops = useComputed(() => loopsIn(model.value?.xml ?? '<none/>')).value;
  const nodes = useComputed(() => {
    const known = model.value ? flowNodesOf(model.value.xml, model.value.process) : [];
    return new Map(known.map((node) => [node.id, node]));
  }).value;
  pageKey('h', () => put({ heat: heat ? null : 1 }));
  if (!instance || (!now && found.problem.value))
    return (
      <>
        <Head title={t('instance')} note={<KeyText of={id} />} />
        {found.problem.value ? (
          <ProblemBox problem={found.problem.value} retry={found.reload} of={['/instances', 'nav.instances']} />
        ) : (
          <p class="dim loading">{t('loading')}</p>
        )}
      </>
    );
  const counts = heat
    ? new Map([...present.elements].map(([element, mark]) => [element, mark.completed + mark.active + mark.incidents]))
    : null;
  const name = (element: string): string => {
    const around = aroundInner(element);
    return around ? t('adHoc.inner', { name: name(around) }) : (names.value.get(element) ?? element);
  };
  const last = at === null ? null : steps[at - 1];
  const taken =
    last?.event.type === 'ElementCompleted' ? ((last.event.flows as string[] | undefined)?.[0] ?? null) : null;
  return (
    <div class={at === null ? 'full instance' : 'full instance is-past'}>
      <Head
        title={<Title instance={instance} />}
        crumbs={<Crumbs instance={instance} callers={now?.callers ?? []} />}
        note={
          <>
            {t('started')} <Time at={instance.startDate} />
            {instance.endDate && (
              <>
                {' '}
                · {t('ended')} <Time at={instance.endDate} />
              </>
            )}
            {instance.dueDate && (
              <>
                {' '}
                · {t('timer.due')} <Time at={instance.dueDate} />
              </>
            )}{' '}
            · <KeyText of={id} />
          </>
        }
        actions={
          at === null && now ? (
            <InstanceActions now={now} undoable={endsWithOperation(steps)} name={name} heat={<HeatButton />} />
          ) : (
            <HeatButton />
          )
        }
      />
      {found.problem.value && (
        <ProblemBox problem={found.problem.value} retry={found.reload} of={['/instances', 'nav.instances']} />
      )}
      <div class={inspector.value === 'off' && !modifying ? 'split folded' : 'split'}>
        <Canvas
          foldable={!modifying}
          xml={model.value?.xml}
          process={model.value?.process}
          marks={at === null ? present : view.marks}
          selected={selected}
          onSelect={select}
          heat={counts}
          travel={taken}
          carrying={modifying ? carryingOf(plan, present, nodes) : null}
          names={(found) => {
            names.value = found;
          }}
        />
        <Divider of="aside" along="x" grows={-1} least={240} most={720} usual={340} />
        {now && modifying ? (
          <Opened
            load={panel}
            props={{
              now,
              plan,
              nodes,
              selected: query.value.get('element'),
              name,
              onClose: () => put({ modify: null }),
            }}
          />
        ) : now ? (
          <Inspector
            now={now}
            view={at === null ? null : view}
            history={view}
            adHocs={adHocs.data.value ?? []}
            compensation={compensation}
            loops={loops}
            agents={hasAgents(model.value?.xml)}
            selected={selected}
            onSelect={select}
            name={name}
          />
        ) : (
          <aside aria-label={t('details')}>
            <p class="dim loading">{t('loading')}</p>
          </aside>
        )}
        <Divider of="timeline" along="y" grows={-1} least={90} most={600} usual={240} />
        <Scrubber
          shown={shown}
          at={at}
          view={view}
          name={name}
          more={more}
          loading={!past.data.value && !past.problem.value}
          onAt={setAt}
          onSelect={select}
        />
      </div>
    </div>
  );
}
