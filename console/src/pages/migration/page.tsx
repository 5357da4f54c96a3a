// Migrate running instances: the page chooses the target, and its URL has everything that it shows.
import { get, search } from '../../lib/api.ts';
import { instanceFilter } from '../../lib/filters.ts';
import { t } from '../../lib/i18n.ts';
import { instanceOf } from '../../lib/instance.ts';
import { useResource } from '../../lib/resource.ts';
import { href, put, query } from '../../lib/router.ts';
import type { Definition } from '../../lib/shapes.ts';
import { instancesUrl, processUrl } from '../../lib/urls.ts';
import { Head } from '../../parts/head.tsx';
import { Empty, ProblemBox } from '../../parts/problem.tsx';
import { Wizard } from './wizard.tsx';

type Found = { from: Definition; others: Definition[] };

/** The source, and what it can be migrated to: first its other versions, the newest first, then other processes of its tenant. */
async function load(key: string, abort: AbortSignal): Promise<Found> {
  const [from, page] = await Promise.all([
    get<Definition>(`/v2/process-definitions/${key}`, abort),
    search<Definition>(
      'process-definitions',
      { sort: [{ field: 'version', order: 'DESC' }], page: { limit: 1000 } },
      abort,
    ),
  ]);
  const fits = (one: Definition) =>
    one.processDefinitionKey !== key && one.tenantId === from.tenantId && one.state === 'ACTIVE';
  const isOther = (one: Definition) => Number(one.processDefinitionId !== from.processDefinitionId);
  return { from, others: page.items.filter(fits).sort((a, b) => isOther(a) - isOther(b)) };
}

const titleOf = (one: Definition): string => `${one.name ?? one.processDefinitionId} v${one.version}`;

export function Migration() {
  const { source: key = '', target: wanted, instance = null, ...values } = Object.fromEntries(query.value);
  const found = useResource(key && `migrate ${key}`, (abort) => load(key, abort), ['definitions']);
  const data = found.data.value;
  const subject = useResource(instance ? `itself ${instance}` : '', (abort) => instanceOf(instance!, abort)).data.value;
  const target = data?.others.find((one) => one.processDefinitionKey === wanted) ?? data?.others[0];
  const filter = { ...instanceFilter(values), processDefinitionKey: key };
  return (
    <div class="full">
      <Head
        title={t('migrate.title')}
        crumbs={
          data && (
            <>
              <a href={processUrl(data.from.processDefinitionId, data.from.tenantId, { version: data.from.version })}>
                {titleOf(data.from)}
              </a>
              {' / '}
              {instance ? (
                <a href={href(`/instances/${instance}`)}>{subject?.businessId ?? instance}</a>
              ) : (
                <a
                  href={instancesUrl(data.from.processDefinitionId, data.from.tenantId, {
                    ...values,
                    version: data.from.version,
                  })}
                >
                  {t('nav.instances')}
                </a>
              )}
            </>
          )
        }
        actions={
          target && (
            <label>
              {t('migrate.to')}{' '}
              <select
                value={target.processDefinitionKey}
                onChange={(event) => put({ target: event.currentTarget.value })}
              >
                {data!.others.map((one) => (
                  <option key={one.processDefinitionKey} value={one.processDefinitionKey}>
                    {titleOf(one)}
                  </option>
                ))}
              </select>
            </label>
          )
        }
      />
      {found.problem.value && (
        <ProblemBox problem={found.problem.value} retry={found.reload} of={['/processes', 'nav.processes']} />
      )}
      {!key && <Empty text={t('migrate.noSource')} of={['/instances', 'nav.instances']} />}
      {data && !target && <p class="dim pad">{t('migrate.noTarget')}</p>}
      {data && target && (
        <Wizard
          key={`${key} ${target.processDefinitionKey} ${instance}`}
          from={data.from}
          to={target}
          subject={{ instance, filter }}
        />
      )}
    </div>
  );
}
