// Processes: the latest version of each, with what runs.
import { ifAllowed, search } from '../lib/api.ts';
import { type Running, runningByProcess } from '../lib/counts.ts';
import { number, t } from '../lib/i18n.ts';
import { useResource } from '../lib/resource.ts';
import { href } from '../lib/router.ts';
import type { Definition, Page } from '../lib/shapes.ts';
import { processUrl } from '../lib/urls.ts';
import { Head } from '../parts/head.tsx';
import { State } from '../parts/state.tsx';
import { type Column, List } from '../parts/table.tsx';
import { versionColumn } from '../parts/versions.tsx';

type Row = Definition & { running: Running | null };
const SIZE = 100;
const UNKNOWN = <span class="dim">–</span>;

const columns = (): Column<Row>[] => [
  {
    title: t('process'),
    wide: true,
    cell: (d) => (
      <a data-row href={processUrl(d.processDefinitionId)}>
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
  {
    title: t('n.active'),
    cell: (d) =>
      d.running ? (
        <a class="number" href={href('/instances', { process: d.processDefinitionId })}>
          {number(d.running.active)}
        </a>
      ) : (
        UNKNOWN
      ),
  },
  {
    title: t('n.incidents'),
    cell: (d) =>
      d.running?.incidents ? (
        <a class="number bad" href={href('/instances', { process: d.processDefinitionId, state: 'incidents' })}>
          {number(d.running.incidents)}
        </a>
      ) : d.running ? (
        <span class="number dim">0</span>
      ) : (
        UNKNOWN
      ),
  },
  { title: t('file'), cell: (d) => <span class="dim">{d.resourceName}</span> },
  { title: t('state'), cell: (d) => (d.state === 'ACTIVE' ? null : <State of={d.state} />) },
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
      <Head title={t('nav.processes')} />
      <List
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
