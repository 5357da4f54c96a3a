// The versions of a process: who deployed which and when, what runs on it, and two of them in one diagram.
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { Canvas } from '../diagram/canvas.tsx';
import { type Difference, differencesOf, ghostsOf } from '../diagram/difference.ts';
import { type Marks, SIGNS } from '../diagram/marks.ts';
import { ifAllowed, search } from '../lib/api.ts';
import { NOBODY, runningByVersion } from '../lib/counts.ts';
import { counted, number, t } from '../lib/i18n.ts';
import { modelOf } from '../lib/models.ts';
import { useGrowing } from '../lib/pages.ts';
import { useResource } from '../lib/resource.ts';
import { href, put, query } from '../lib/router.ts';
import { me } from '../lib/session.ts';
import type { Definition } from '../lib/shapes.ts';
import { instancesUrl, processUrl, versionsUrl } from '../lib/urls.ts';
import { Both } from '../parts/both.tsx';
import { Divider } from '../parts/divider.tsx';
import { Head } from '../parts/head.tsx';
import { Empty, ProblemBox } from '../parts/problem.tsx';
import { Rest } from '../parts/rest.tsx';
import { State } from '../parts/state.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { versionColumn } from '../parts/versions.tsx';

const SIZE = 100;

/** The people who made these deployments, by their keys, as far as the audit log says so. Empty without the right to read it. */
async function deployersOf(deployments: readonly string[], abort: AbortSignal): Promise<Map<string, string>> {
  const filter = { entityType: 'RESOURCE', operationType: 'CREATE', deploymentKey: { $in: deployments } };
  const found = await ifAllowed(
    search<{ deploymentKey: string; actorId: string | null }>(
      'audit-logs',
      { filter, page: { limit: deployments.length } },
      abort,
    ),
  );
  return new Map((found?.items ?? []).flatMap((one) => (one.actorId ? [[one.deploymentKey, one.actorId]] : [])));
}

/** The version below it of the same tenant. */
const earlier = (all: readonly Definition[], of: Definition): Definition | undefined =>
  all.find((one) => one.tenantId === of.tenantId && one.version < of.version);

function VersionList({ id, all }: { id: string; all: Definition[] }) {
  const running = useResource(`running ${id}`, (abort) => ifAllowed(runningByVersion(id, abort)), [
    'instances',
    'incidents',
  ]).data.value;
  const deployments = [...new Set(all.map((one) => one.deploymentKey))];
  const deployers = useResource(`deployers ${deployments}`, (abort) => deployersOf(deployments, abort)).data.value;
  const count = (of: Definition, name: 'active' | 'incidents' | 'suspended') => {
    if (!running) return <span class="dim">–</span>;
    const n = (running.get(of.processDefinitionKey) ?? NOBODY)[name];
    const state = name === 'active' ? null : name;
    return n ? (
      <a
        class={name === 'incidents' ? 'number bad' : 'number'}
        href={instancesUrl(id, of.tenantId, { version: of.version, state })}
      >
        {number(n)}
      </a>
    ) : (
      <span class="number dim">0</span>
    );
  };
  const columns: Column<Definition>[] = [
    {
      title: t('version'),
      cell: (d) => (
        <a data-row href={processUrl(id, d.tenantId, { version: d.version })}>
          {versionColumn().cell(d)}
        </a>
      ),
    },
    { title: t('versions.deployed'), cell: (d) => <Time at={d.deploymentDate} /> },
    { title: t('batch.by'), cell: (d) => deployers?.get(d.deploymentKey) ?? <span class="dim">–</span> },
    { title: t('n.active'), cell: (d) => count(d, 'active') },
    { title: t('n.incidents'), cell: (d) => count(d, 'incidents') },
    {
      title: t('state.suspended'),
      has: (d) => (running?.get(d.processDefinitionKey)?.suspended ?? 0) > 0,
      cell: (d) => count(d, 'suspended'),
    },
    { title: t('state'), cell: (d) => <State of={d.state} /> },
    ...((me.value?.tenants.length ?? 0) > 1
      ? [{ title: t('tenant'), cell: (d: Definition) => <span class="dim">{d.tenantId}</span> }]
      : []),
    {
      title: t('versions.changes'),
      has: (d) => earlier(all, d) !== undefined,
      cell: (d) => {
        const before = earlier(all, d);
        if (!before) return null;
        const to = { of: d.processDefinitionKey, with: before.processDefinitionKey };
        return <a href={versionsUrl(id, d.tenantId, to)}>{t('versions.since', { n: before.version })}</a>;
      },
    },
  ];
  return <Table label={t('versions')} columns={columns} items={all} id={(d) => d.processDefinitionKey} />;
}

/** The choice of a version, in the order of the list. */
function Choice({ label, name, all, value }: { label: string; name: string; all: Definition[]; value: Definition }) {
  return (
    <label>
      {label}{' '}
      <select
        value={value.processDefinitionKey}
        onChange={(event) => put({ [name]: event.currentTarget.value, element: null })}
      >
        {all.map((one) => (
          <option key={one.processDefinitionKey} value={one.processDefinitionKey}>
            v{one.version}
            {one.versionTag ? ` · ${one.versionTag}` : ''}
          </option>
        ))}
      </select>
    </label>
  );
}

function Changes({ of, selected }: { of: readonly Difference[]; selected: string | null }) {
  if (!of.length) return <p>{t('versions.same')}</p>;
  return (
    <ul class="differences">
      {of.map(({ id, name, kind, change, facts }) => (
        <li key={id} class={change} aria-current={id === selected ? 'true' : undefined}>
          <p>
            <i aria-hidden="true">{SIGNS[change]}</i>{' '}
            <button type="button" class="link" onClick={() => put({ element: id })}>
              {name || id}
            </button>{' '}
            <span class="dim">
              {t(`rule.change.${change}`)} · {kind.replace(/[A-Z]/g, ' $&').toLowerCase()}
            </span>
          </p>
          {facts.length > 0 && (
            <dl>
              {facts.map((fact) => (
                <div key={fact.name}>
                  <dt>{fact.name}</dt>
                  <dd>
                    <Both before={fact.before} after={fact.after} />
                  </dd>
                </div>
              ))}
            </dl>
          )}
        </li>
      ))}
    </ul>
  );
}

type Models = { before: string; after: string };

async function modelsOf(before: Definition, after: Definition): Promise<Models> {
  const [old, now] = await Promise.all([modelOf(before.processDefinitionKey), modelOf(after.processDefinitionKey)]);
  return { before: old, after: now };
}

function Comparison({ before, after }: { before: Definition; after: Definition }) {
  const id = after.processDefinitionId;
  const names = useSignal(new Map<string, string>());
  const found = useResource(`models ${before.processDefinitionKey} ${after.processDefinitionKey}`, () =>
    modelsOf(before, after),
  );
  const models = found.data.value;
  const differences = useMemo(() => (models ? differencesOf(models.before, models.after, id) : []), [models]);
  const marks = useMemo<Marks>(() => {
    const removed = differences.filter(({ change }) => change === 'removed');
    return {
      elements: new Map(),
      flows: new Set(),
      differing: new Map(differences.map(({ id, change }) => [id, { change, word: t(`rule.change.${change}`) }])),
      ghosts: models ? ghostsOf(models.before, models.after, removed) : [],
    };
  }, [differences]);
  const selected = query.value.get('element');
  const count = (change: Difference['change']) => differences.filter((one) => one.change === change).length;
  return (
    <>
      {found.problem.value && <ProblemBox problem={found.problem.value} retry={found.reload} />}
      <div class="split">
        <Canvas
          xml={models?.after}
          process={id}
          marks={marks}
          selected={selected}
          onSelect={(element) => put({ element })}
          names={(all) => {
            names.value = all;
          }}
        />
        <Divider of="aside" along="x" grows={-1} least={240} most={720} usual={340} />
        <aside aria-label={t('versions.changes')}>
          <h2>{t('versions.changes')}</h2>
          {models && (
            <>
              <p role="status">
                {(['added', 'removed', 'changed'] as const)
                  .map((change) => `${t(`rule.change.${change}`)}: ${number(count(change))}`)
                  .join(' · ')}
              </p>
              <Changes of={differences} selected={selected} />
            </>
          )}
        </aside>
      </div>
    </>
  );
}

export function Versions({ id }: { id: string }) {
  const tenant = query.value.get('tenant');
  const found = useGrowing<Definition>(
    'process-definitions',
    { processDefinitionId: id, ...(tenant && { tenantId: tenant }) },
    [{ field: 'version', order: 'DESC' }],
    SIZE,
    ['definitions'],
  );
  const all = found.data.value?.items;
  const named = (name: string) => all?.find((one) => one.processDefinitionKey === query.value.get(name));
  const [after, before] = [named('of'), named('with')];
  const title = all?.[0]?.name ?? id;
  return (
    <div class={after && before ? 'full' : undefined}>
      <Head
        title={`${title}: ${t('versions')}`}
        crumbs={
          <>
            <a href={href('/processes')}>{t('nav.processes')}</a>
            {' / '}
            <a href={processUrl(id, after?.tenantId ?? tenant)}>{title}</a>
            {before && (
              <>
                {' / '}
                <a href={versionsUrl(id, tenant)}>{t('versions')}</a>
              </>
            )}
          </>
        }
        actions={
          after &&
          before && (
            <>
              <Choice label={t('migrate.from')} name="with" all={all!} value={before} />
              <Choice label={t('migrate.to')} name="of" all={all!} value={after} />
            </>
          )
        }
      />
      {found.problem.value && <ProblemBox problem={found.problem.value} retry={found.reload} />}
      {!all && !found.problem.value && <p class="dim loading">{t('loading')}</p>}
      {all && !all.length && <Empty text={t('empty.process', { id })} of={['/processes', 'nav.processes']} />}
      {after && before && (
        <Comparison
          key={`${before.processDefinitionKey} ${after.processDefinitionKey}`}
          before={before}
          after={after}
        />
      )}
      {all && all.length > 0 && !(after && before) && (
        <section class="results">
          <p class="total" role="status">
            {counted('count.versions', found.data.value!.page)}
          </p>
          <VersionList id={id} all={all} />
          <Rest count="count.versions" page={found.data.value} steps={found} />
        </section>
      )}
    </div>
  );
}
