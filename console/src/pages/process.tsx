// A process: its diagram with what runs where, its versions, and its instances.
import { useComputed, useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import type { Badges } from '../diagram/badges.ts';
import { Canvas, warmUp } from '../diagram/canvas.tsx';
import { marksOf, NOTHING } from '../diagram/marks.ts';
import { aroundInner, hasAgents } from '../lib/ad_hoc.ts';
import { search, send } from '../lib/api.ts';
import { durationsOf, NOBODY, runningByVersion } from '../lib/counts.ts';
import { number, t, total } from '../lib/i18n.ts';
import { pageKey } from '../lib/keys.ts';
import { modelOf } from '../lib/models.ts';
import { useResource } from '../lib/resource.ts';
import { href, put, query } from '../lib/router.ts';
import { inspector } from '../lib/settings.ts';
import type { Definition, Durations, Instance, PageInfo, Statistics } from '../lib/shapes.ts';
import { duration } from '../lib/time.ts';
import { figuresUrl, instancesUrl, versionsUrl } from '../lib/urls.ts';
import { chosen, versionsOf } from '../lib/versions.ts';
import { Divider } from '../parts/divider.tsx';
import { Head } from '../parts/head.tsx';
import { Opened } from '../parts/lazy.tsx';
import { More } from '../parts/more.tsx';
import { Empty, ProblemBox } from '../parts/problem.tsx';
import { State } from '../parts/state.tsx';
import { Time } from '../parts/time.tsx';
import { VersionChoice, VersionFacts } from '../parts/versions.tsx';
import type { CostCardProps } from './agents/costs.tsx';
import { DeleteButton } from './delete_definition.tsx';
import { StartButton } from './start.tsx';

warmUp();

const agentCosts = async (): Promise<ComponentType<CostCardProps>> =>
  (await import('./agents/costs.tsx')).AgentCostCard;

/** Badges of a process: how many tokens wait, and how many of them have incidents. */
const badges: Badges = (mark) => ({
  left: mark.active ? { text: number(mark.active), tone: '' } : null,
  right: mark.incidents ? { text: `! ${number(mark.incidents)}`, tone: 'bad' } : null,
});

/** The number of a version's late instances, as the list with this filter counts them. */
const lateOf = async (processDefinitionKey: string, abort?: AbortSignal): Promise<PageInfo> =>
  (
    await search<Instance>(
      'process-instances',
      { filter: { processDefinitionKey, state: 'ACTIVE', isLate: true }, page: { limit: 1 } },
      abort,
    )
  ).page;

/** The durations of completed ones. */
function DurationRows({ of }: { of: Durations | undefined }) {
  return (
    <>
      <dt>{t('duration.median')}</dt>
      <dd>{of ? duration(of.medianMs) : '–'}</dd>
      <dt>{t('duration.most')}</dt>
      <dd>{of ? duration(of.percentile95Ms) : '–'}</dd>
      <dt>{t('duration.mean')}</dt>
      <dd>{of ? duration(of.meanMs) : '–'}</dd>
    </>
  );
}

type InspectorProps = {
  definition: Definition;
  statistics: Statistics[];
  durations: ReadonlyMap<string, Durations>;
  /** Whether it has agents that the server works. */
  agents: boolean;
  selected: string | null;
  name: (id: string) => string;
};

function Inspector({ definition, statistics, durations, agents, selected, name }: InspectorProps) {
  const running = useResource(
    `running ${definition.processDefinitionId}`,
    (abort) => runningByVersion(definition.processDefinitionId, abort),
    ['instances', 'incidents'],
  ).data.value;
  const count = running?.get(definition.processDefinitionKey) ?? NOBODY;
  const late = useResource(
    `late ${definition.processDefinitionKey}`,
    (abort) => lateOf(definition.processDefinitionKey, abort),
    ['instances'],
  ).data.value;
  const of = statistics.find((s) => s.elementId === selected);
  const instances = (values: Record<string, string> = {}): string =>
    instancesUrl(definition.processDefinitionId, definition.tenantId, { ...values, version: definition.version });
  return (
    <aside aria-label={t('details')}>
      <h2>{selected ? name(selected) : `${t('version')} ${definition.version}`}</h2>
      {selected && (
        <p class="dim">
          <code>{selected}</code>
        </p>
      )}
      {selected ? (
        <dl>
          <dt>{t('n.active')}</dt>
          <dd>
            <a href={instances({ element: selected })}>{number(of?.active ?? 0)}</a>
          </dd>
          <dt>{t('n.incidents')}</dt>
          <dd>{number(of?.incidents ?? 0)}</dd>
          <dt>{t('n.completed')}</dt>
          <dd>{number(of?.completed ?? 0)}</dd>
          <dt>{t('n.canceled')}</dt>
          <dd>{number(of?.canceled ?? 0)}</dd>
          <DurationRows of={durations.get(selected)} />
        </dl>
      ) : (
        <dl>
          <dt>{t('n.active')}</dt>
          <dd>{running ? <a href={instances()}>{number(count.active)}</a> : '…'}</dd>
          <dt>{t('n.incidents')}</dt>
          <dd>{running ? <a href={instances({ state: 'incidents' })}>{number(count.incidents)}</a> : '…'}</dd>
          <dt>{t('filter.late')}</dt>
          <dd>{late ? <a href={instances({ state: 'late' })}>{total(late)}</a> : '…'}</dd>
          {count.suspended > 0 && (
            <>
              <dt>{t('state.suspended')}</dt>
              <dd>
                <a href={instances({ state: 'suspended' })}>{number(count.suspended)}</a>
              </dd>
            </>
          )}
          <DurationRows of={durations.get('')} />
          <dt>{t('state')}</dt>
          <dd>
            <State of={definition.state} />
          </dd>
          <dt>{t('file')}</dt>
          <dd>{definition.resourceName}</dd>
          <dt>{t('versions.deployed')}</dt>
          <dd>
            <Time at={definition.deploymentDate} />
          </dd>
          <VersionFacts of={definition} id={definition.processDefinitionKey} />
        </dl>
      )}
      {selected && (
        <button type="button" onClick={() => put({ element: null })}>
          {t('wholeProcess')}
        </button>
      )}
      {agents && (
        <Opened
          key={selected}
          load={agentCosts}
          props={{
            definition: definition.processDefinitionKey,
            selected,
            onSelect: (element: string | null) => put({ element }),
            name,
          }}
        />
      )}
      <h3>{t('busiest')}</h3>
      <table class="small">
        <tbody>
          {[...statistics]
            .sort((a, b) => b.active + b.incidents - a.active - a.incidents || b.completed - a.completed)
            .slice(0, 12)
            .map((s) => (
              <tr key={s.elementId}>
                <th scope="row">
                  <button type="button" class="link" onClick={() => put({ element: s.elementId })}>
                    {name(s.elementId)}
                  </button>
                </th>
                <td class="number">{s.incidents > 0 && <span class="bad">! {number(s.incidents)}</span>}</td>
                <td class="number">{s.active > 0 ? number(s.active) : ''}</td>
                <td class="number dim">✓ {number(s.completed)}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </aside>
  );
}

function Version({ definition }: { definition: Definition }) {
  const key = definition.processDefinitionKey;
  const selected = query.value.get('element');
  const heat = query.value.get('heat');
  const names = useSignal(new Map<string, string>());
  const xml = useResource(`xml ${key}`, () => modelOf(key)).data.value;
  const found = useResource(`statistics ${key}`, (abort) => load(key, abort), [
    'instances',
    'incidents',
    `definition:${key}`,
  ]);
  const statistics = found.data.value?.statistics;
  const durations = found.data.value?.durations ?? NONE;
  const marks = useComputed(() =>
    found.data.value ? marksOf(found.data.value.statistics.filter((s) => s.active + s.incidents > 0)) : NOTHING,
  ).value;
  const heats = useComputed(() => heatsOf(found.data.value)).value;
  pageKey('h', () => put({ heat: heat === null ? 1 : null }));
  const name = (id: string): string => {
    const around = aroundInner(id);
    return around ? t('adHoc.inner', { name: name(around) }) : (names.value.get(id) ?? id);
  };
  return (
    <div class={inspector.value === 'off' ? 'split folded' : 'split'}>
      <Canvas
        foldable
        xml={xml}
        process={definition.processDefinitionId}
        marks={marks}
        badges={badges}
        selected={selected}
        onSelect={(id) => put({ element: id })}
        heat={heat === null ? null : heat === 'duration' ? heats.duration : heats.count}
        names={(found) => {
          names.value = found;
        }}
      />
      <Divider of="aside" along="x" grows={-1} least={240} most={720} usual={340} />
      <Inspector
        definition={definition}
        statistics={statistics ?? []}
        durations={durations}
        agents={hasAgents(xml)}
        selected={selected}
        name={name}
      />
    </div>
  );
}

type Measured = { statistics: Statistics[]; durations: Map<string, Durations> };
const NONE: ReadonlyMap<string, Durations> = new Map();

async function load(key: string, abort: AbortSignal): Promise<Measured> {
  const [statistics, durations] = await Promise.all([statisticsOf(key, abort), durationsOf(key, abort)]);
  return { statistics, durations };
}

/** The figures of the heat map, by element: how often it was reached, or how long it usually takes. */
function heatsOf(found: Measured | undefined): Record<'count' | 'duration', ReadonlyMap<string, number>> {
  return {
    count: new Map((found?.statistics ?? []).map((s) => [s.elementId, s.completed + s.active + s.incidents])),
    duration: new Map(
      [...(found?.durations ?? NONE)]
        .filter(([id, { medianMs }]) => id && medianMs > 0)
        .map(([id, { medianMs }]) => [id, medianMs]),
    ),
  };
}

const statisticsOf = async (key: string, abort: AbortSignal): Promise<Statistics[]> =>
  (
    await send<{ items: Statistics[] }>(
      { method: 'POST', path: `/v2/process-definitions/${key}/statistics/element-instances` },
      abort,
    )
  ).body.items;

export function Process({ id }: { id: string }) {
  const found = useResource(`versions ${id}`, (abort) => versionsOf(id, abort), ['definitions']);
  const versions = found.data.value?.items;
  const heat = query.value.get('heat');
  const definition = versions && chosen(versions);
  const title = definition?.name ?? id;
  const actions = definition && (
    <>
      <VersionChoice versions={versions!} value={definition} />
      <button
        type="button"
        aria-pressed={heat !== null && heat !== 'duration'}
        onClick={() => put({ heat: heat !== null && heat !== 'duration' ? null : 1 })}
      >
        {t('heat')}
      </button>
      <a class="button" href={instancesUrl(id, definition.tenantId, { version: definition.version })}>
        {t('nav.instances')}
      </a>
      <StartButton definition={definition} />
      <More>
        <button
          type="button"
          aria-pressed={heat === 'duration'}
          onClick={() => put({ heat: heat === 'duration' ? null : 'duration' })}
        >
          {t('duration')}
        </button>
        <a class="button" href={versionsUrl(id, definition.tenantId)}>
          {t('versions')}
        </a>
        <a class="button" href={figuresUrl(id, definition.tenantId)}>
          {t('figures.title')}
        </a>
        <a class="button" href={href('/migrate', { source: definition.processDefinitionKey })}>
          {t('migrate.do')} …
        </a>
        <a class="button" href={href(`/editor/${definition.processDefinitionKey}`)}>
          {t('edit')}
        </a>
        <DeleteButton definition={definition} />
      </More>
    </>
  );
  return (
    <div class="full">
      <Head
        title={title}
        crumbs={<a href={href('/processes')}>{t('nav.processes')}</a>}
        note={<code>{id}</code>}
        actions={actions}
      />
      {found.problem.value && <ProblemBox problem={found.problem.value} retry={found.reload} />}
      {versions && !definition && <Empty text={t('empty.process', { id })} of={['/processes', 'nav.processes']} />}
      {definition && <Version key={definition.processDefinitionKey} definition={definition} />}
    </div>
  );
}
