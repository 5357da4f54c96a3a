// Processes: the latest version of each, with what runs.
import { ifAllowed, search } from '../lib/api.ts';
import { type Running, runningByProcess } from '../lib/counts.ts';
import type { STATES } from '../lib/filters.ts';
import { type Key, number, t } from '../lib/i18n.ts';
import { useResource } from '../lib/resource.ts';
import { href } from '../lib/router.ts';
import type { Definition, Page } from '../lib/shapes.ts';
import { instancesUrl, processUrl } from '../lib/urls.ts';
import { Head } from '../parts/head.tsx';
import { State } from '../parts/state.tsx';
import { type Column, List } from '../parts/table.tsx';
import { versionColumn } from '../parts/versions.tsx';

type Row = Definition & { running: Running | null };
const SIZE = 100;
const UNKNOWN = <span class="dim">–</span>;

/** A column of numbers of instances in a state, which lead to these. */
const countOf = (title: Key, of: (running: Running) => number, state: (typeof STATES)[number]): Column<Row> => ({
  title: t(title),
  ...(state === 'suspended' && { has: ({ running }) => !!running && of(running) > 0 }),
  cell: (d) => {
    if (!d.running) return UNKNOWN;
    const n = of(d.running);
    if (!n && state !== 'active') return <span class="number dim">0</span>;
    return (
      <a
        class={state === 'incidents' ? 'number bad' : 'number'}
        href={instancesUrl(d.processDefinitionId, d.tenantId, { state: state === 'active' ? null : state })}
      >
        {number(n)}
      </a>
    );
  },
});

const columns = (): Column<Row>[] => [
  {
    title: t('process'),
    wide: true,
    cell: (d) => (
      <a data-row href={processUrl(d.processDefinitionId, d.tenantId)}>
        <b>{d.name ?? d.processDefinitionId}</b>
        {d.name && (
          <small>
            <code>{d.processDefinitionId}</code>
          </small>
        )}
      </a>
    ),
  },
  versionColumn(),
  countOf('n.active', (running) => running.active, 'active'),
  countOf('n.incidents', (running) => running.incidents, 'incidents'),
  countOf('state.suspended', (running) => running.suspended, 'suspended'),
  { title: t('file'), cell: (d) => <span class="dim">{d.resourceName}</span> },
  {
    title: t('state'),
    has: (d) => d.state !== 'ACTIVE',
    cell: (d) => (d.state === 'ACTIVE' ? null : <State of={d.state} />),
  },
];

async function load(abort: AbortSignal): Promise<Page<Row>> {
  const [page, running] = await Promise.all([
    search<Definition>(
      'process-definitions',
      { filter: { isLatestVersion: true }, sort: [{ field: 'name', order: 'ASC' }], page: { limit: SIZE } },
      abort,
    ),
    ifAllowed(runningByProcess(abort)),
  ]);
  return { ...page, items: page.items.map((d) => ({ ...d, running: running?.(d) ?? null })) };
}

export function Processes() {
  const found = useResource('processes', load, ['definitions', 'instances', 'incidents']);
  return (
    <>
      <Head
        title={t('nav.processes')}
        actions={
          <>
            <a class="button" href={href('/landscape')}>
              {t('landscape')}
            </a>
            <a class="button" href={href('/editor/drafts')}>
              {t('draft.list')}
            </a>
            <a class="button" href={href('/editor')}>
              {t('editor.new')}
            </a>
          </>
        }
      />
      <List
        count="count.processes"
        label={t('nav.processes')}
        found={found}
        columns={columns()}
        id={(d) => d.processDefinitionKey}
        size={SIZE}
        empty={
          <>
            <p>{t('empty.processes')}</p>
            <pre tabIndex={0}>vivero deploy order.bpmn</pre>
          </>
        }
      />
    </>
  );
}
