// Figures over time, of a process or of all: what happened day by day, how many ran, how long versions take, and the oldest.
import { get, ifAllowed, search } from '../lib/api.ts';
import { number, t } from '../lib/i18n.ts';
import { useResource } from '../lib/resource.ts';
import { href, put, query } from '../lib/router.ts';
import type { Definition, Instance, Page } from '../lib/shapes.ts';
import { duration } from '../lib/time.ts';
import { processUrl } from '../lib/urls.ts';
import { chosen, versionsOf } from '../lib/versions.ts';
import { Head } from '../parts/head.tsx';
import { Empty, ProblemBox } from '../parts/problem.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { AgentCosts } from './agents/costs.tsx';
import { Days, firstDay, hour } from './days.tsx';

const CHOICES = [14, 30, 62];
const OLDEST = 10;

type CycleTime = { completed: number; medianMs: number; percentile90Ms: number };
type Version = CycleTime & {
  processDefinitionKey: string;
  processDefinitionVersion: number;
  days: (CycleTime & { startTime: string })[];
};

/** The medians of a version, a bar for each day in which instances completed. */
function Course({ days }: { days: Version['days'] }) {
  const most = Math.max(1, ...days.map(({ medianMs }) => medianMs));
  return (
    <svg class="course" viewBox={`0 0 ${days.length} 20`} preserveAspectRatio="none" aria-hidden="true">
      {days.map(({ startTime, medianMs }, i) => (
        <rect key={startTime} x={i} y={20 - (medianMs / most) * 20} width={0.9} height={(medianMs / most) * 20} />
      ))}
    </svg>
  );
}

function CycleTimes({ of, days }: { of: Definition; days: number }) {
  const key = of.processDefinitionKey;
  const found = useResource(`cycle times ${key} ${days} ${hour()}`, (abort) => {
    const query = new URLSearchParams({ startTime: firstDay(days), days: `${days}` });
    return get<{ items: Version[] }>(`/v2/process-definitions/${key}/statistics/cycle-times?${query}`, abort);
  });
  const columns: Column<Version>[] = [
    {
      title: t('version'),
      cell: (one) => (
        <a data-row href={processUrl(of.processDefinitionId, of.tenantId, { version: one.processDefinitionVersion })}>
          {one.processDefinitionVersion}
        </a>
      ),
    },
    { title: t('figures.completed'), cell: (one) => number(one.completed) },
    { title: t('figures.median'), cell: (one) => <span class="number">{duration(one.medianMs)}</span> },
    { title: t('figures.most'), cell: (one) => <span class="number">{duration(one.percentile90Ms)}</span> },
    { title: t('figures.course'), wide: true, cell: (one) => <Course days={one.days} /> },
  ];
  const items = found.data.value?.items;
  return (
    <section>
      <h2>{t('figures.cycle')}</h2>
      {found.problem.value && <ProblemBox problem={found.problem.value} retry={found.reload} />}
      {items?.length === 0 && <p class="dim">{t('figures.none')}</p>}
      {items && items.length > 0 && (
        <Table label={t('figures.cycle')} columns={columns} items={items} id={(one) => one.processDefinitionKey} />
      )}
    </section>
  );
}

/** The instances that have been running for the longest time. */
function Oldest({ id, tenant }: { id: string; tenant: string }) {
  const filter = {
    state: { $in: ['ACTIVE', 'SUSPENDED'] },
    ...(id && { processDefinitionId: id }),
    ...(tenant && { tenantId: tenant }),
  };
  const found = useResource<Page<Instance> | null>(
    `oldest ${id} ${tenant}`,
    (abort) =>
      ifAllowed(
        search<Instance>(
          'process-instances',
          { filter, sort: [{ field: 'startDate', order: 'ASC' }], page: { limit: OLDEST } },
          abort,
        ),
      ),
    ['instances'],
  );
  const items = found.data.value?.items;
  const columns: Column<Instance>[] = [
    {
      title: t('instance'),
      wide: true,
      cell: (one) => (
        <a data-row href={href(`/instances/${one.processInstanceKey}`)}>
          {one.businessId ?? <code>{one.processInstanceKey}</code>}
        </a>
      ),
    },
    { title: t('process'), cell: (one) => one.processDefinitionName ?? one.processDefinitionId },
    { title: t('days.started'), cell: (one) => <Time at={one.startDate} /> },
  ];
  if (!items) return null;
  return (
    <section>
      <h2>{t('figures.oldest')}</h2>
      {items.length ? (
        <Table label={t('figures.oldest')} columns={columns} items={items} id={(one) => one.processInstanceKey} />
      ) : (
        <p class="dim">{t('figures.idle')}</p>
      )}
    </section>
  );
}

export function Figures() {
  const process = query.value.get('process') ?? '';
  const tenant = query.value.get('tenant') ?? '';
  const versions = useResource(process && `versions ${process}`, (abort) => versionsOf(process, abort));
  const newest = chosen(versions.data.value?.items ?? []);
  const isUnknown = !!process && !!versions.data.value && !newest;
  const asked = Number(query.value.get('days'));
  const days = CHOICES.includes(asked) ? asked : CHOICES[0]!;
  return (
    <>
      <Head
        title={t('figures.title')}
        crumbs={process && <a href={processUrl(process, tenant || null)}>{process}</a>}
        actions={
          <label>
            {t('figures.days')}{' '}
            <select value={days} onChange={(event) => put({ days: event.currentTarget.value })}>
              {CHOICES.map((n) => (
                <option key={n} value={n}>
                  {number(n)}
                </option>
              ))}
            </select>
          </label>
        }
      />
      {isUnknown ? (
        <Empty text={t('empty.process', { id: process })} of={['/processes', 'nav.processes']} />
      ) : (
        <div class="home">
          <Days key={`${process} ${days}`} process={process} tenant={tenant} days={days} backlog />
          {versions.problem.value && <ProblemBox problem={versions.problem.value} retry={versions.reload} />}
          {newest && <CycleTimes key={`${process} ${days}`} of={newest} days={days} />}
          {newest && (
            <AgentCosts key={`costs ${process} ${days}`} definition={newest.processDefinitionKey} days={days} />
          )}
          <Oldest key={process} id={process} tenant={tenant} />
        </div>
      )}
    </>
  );
}
