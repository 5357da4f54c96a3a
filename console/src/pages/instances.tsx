// Process instances: every filter is in the URL.
import { useSignal } from '@preact/signals';
import { search } from '../lib/api.ts';
import type { What } from '../lib/batches.ts';
import { instanceFilter, STATES } from '../lib/filters.ts';
import { type Key, number, t, total } from '../lib/i18n.ts';
import { useResource } from '../lib/resource.ts';
import { go, href, put, query } from '../lib/router.ts';
import { UPDATE_INSTANCE } from '../lib/session.ts';
import { columns as remembered } from '../lib/settings.ts';
import type { Definition, Instance, Page, PageInfo } from '../lib/shapes.ts';
import { Act } from '../parts/act.tsx';
import { Head } from '../parts/head.tsx';
import { SavedViews } from '../parts/saved_views.tsx';
import { List, sortOf } from '../parts/table.tsx';
import { tenants } from '../parts/tenant.tsx';
import { BatchButton } from './batch.tsx';
import { ColumnChoice, columnsOf, fileOf, shown, useValues } from './instance_columns.tsx';

const SIZE = 50;
const MOST_DEFINITIONS = 1000;
const TEXTS: readonly [name: string, label: Key][] = [
  ['tag', 'filter.tag'],
  ['element', 'filter.element'],
  ['error', 'filter.error'],
];

const ENDED: readonly string[] = ['completed', 'terminated'];

/** The sorts of a list beside the start: ended instances by their end, for which there is an index, and suspended ones since when they are. */
const sortsOf = (state: string | undefined): string[] =>
  ENDED.includes(state ?? '') ? ['endDate'] : state === 'suspended' ? ['suspendedDate'] : [];

function Filters({ definitions }: { definitions: Definition[] }) {
  const values = Object.fromEntries(query.value);
  const more = useSignal(['tag', 'element', 'error', 'variable', 'from', 'to'].some((name) => values[name]));
  const set = (name: string, value: string) => put({ [name]: value || null, after: null, before: null });
  const field = (name: string) => ({
    name,
    value: values[name] ?? '',
    onChange: (event: Event) => set(name, (event.currentTarget as HTMLInputElement).value),
  });
  const ids = [...new Map(definitions.map((d) => [d.processDefinitionId, d.name ?? d.processDefinitionId]))];
  const versions = definitions
    .filter((d) => d.processDefinitionId === values.process && (!values.tenant || d.tenantId === values.tenant))
    .map((d) => d.version)
    .sort((a, b) => b - a);
  return (
    <form class="filters" role="search" aria-label={t('filters')} onSubmit={(event) => event.preventDefault()}>
      <fieldset class="states">
        <legend class="sr">{t('state')}</legend>
        {STATES.map((state) => (
          <label key={state}>
            <input
              type="radio"
              name="state"
              checked={(values.state ?? 'active') === state}
              onChange={() => set('state', state === 'active' ? '' : state)}
            />
            {t(`filter.${state}`)}
          </label>
        ))}
      </fieldset>
      <input type="search" data-search placeholder={t('filter.q')} aria-label={t('filter.q')} {...field('q')} />
      <select aria-label={t('process')} {...field('process')}>
        <option value="">{t('filter.anyProcess')}</option>
        {values.process &&
          definitions.length > 0 &&
          !definitions.some((one) => one.processDefinitionId === values.process) && (
            <option value={values.process}>
              {definitions.length < MOST_DEFINITIONS ? t('filter.unknown', { id: values.process }) : values.process}
            </option>
          )}
        {ids.map(([id, name]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      {versions.length > 1 && (
        <select aria-label={t('version')} {...field('version')}>
          <option value="">{t('filter.anyVersion')}</option>
          {[...new Set(versions)].map((v) => (
            <option key={v} value={v}>
              v{v}
            </option>
          ))}
        </select>
      )}
      {tenants.value.length > 1 && (
        <select aria-label={t('tenant')} {...field('tenant')}>
          <option value="">{t('filter.anyTenant')}</option>
          {tenants.value.map(({ tenantId, name }) => (
            <option key={tenantId} value={tenantId}>
              {name ?? tenantId}
            </option>
          ))}
        </select>
      )}
      {values.cause && (
        <button type="button" class="tag" onClick={() => set('cause', '')}>
          {t('filter.cause')} <i aria-hidden="true">×</i>
          <span class="sr"> {t('filter.clear')}</span>
        </button>
      )}
      <button
        type="button"
        aria-expanded={more.value}
        onClick={() => {
          more.value = !more.value;
        }}
      >
        {t('filter.more')}
      </button>
      {more.value && (
        <div class="more">
          <label>
            {t('filter.variable')} <input {...field('variable')} placeholder="orderId" />
          </label>
          <label>
            {t('filter.value')} <input {...field('value')} placeholder='"A-17"' />
          </label>
          {TEXTS.map(([name, label]) => (
            <label key={name}>
              {t(label)} <input {...field(name)} />
            </label>
          ))}
          <label>
            {t('filter.from')} <input type="datetime-local" {...field('from')} />
          </label>
          <label>
            {t('filter.to')} <input type="datetime-local" {...field('to')} />
          </label>
          <a class="button" href={href('/instances')}>
            {t('filter.clear')}
          </a>
        </div>
      )}
    </form>
  );
}

/** The actions on all instances in a state; the first one is the usual one. */
const OFFERED: Record<string, readonly What[]> = {
  active: ['suspend', 'cancel'],
  incidents: ['retry', 'suspend', 'cancel'],
  late: ['suspend', 'cancel'],
  suspended: ['resume', 'cancel'],
  completed: ['delete'],
  terminated: ['delete'],
};

/** The way to the wizard of migrations, with the filter. It needs the version that the instances have now. */
function Migrate({ definitions }: { definitions: Definition[] }) {
  const { process, version, tenant, ...filter } = Object.fromEntries(query.value);
  const ofList = { sort: null, after: null, before: null, columns: null };
  const found = definitions.filter(
    (one) =>
      one.processDefinitionId === process &&
      (!version || one.version === Number(version)) &&
      (!tenant || one.tenantId === tenant),
  );
  return (
    <Act
      need={UPDATE_INSTANCE}
      of={process}
      why={found.length === 1 ? null : t('migrate.oneVersion')}
      onClick={() => go(href('/migrate', { source: found[0]!.processDefinitionKey, ...filter, ...ofList }))}
    >
      {t('migrate.do')} …
    </Act>
  );
}

type AllProps = {
  filter: Record<string, unknown>;
  state: string;
  page: PageInfo | undefined;
  /** The keys of the rows that are ticked. Without any it is about all that match. */
  ticked: ReadonlySet<string>;
};

/** The actions on the ticked instances, or on all that match: then the filter is sent, and not what the page shows. */
function All({ filter, state, page, ticked }: AllProps) {
  if (!page?.totalItems) return null;
  const of = ticked.size ? { ...filter, processInstanceKey: { $in: [...ticked] } } : filter;
  return (OFFERED[state] ?? []).map((what) => (
    <BatchButton key={what} what={what} filter={of} total={ticked.size ? number(ticked.size) : total(page)} />
  ));
}

export function Instances() {
  const values = Object.fromEntries(query.value);
  const sorts = ['startDate', ...sortsOf(values.state)];
  const isOffered = sorts.includes(values.sort?.replace(/^-/, '') ?? '');
  const sort = sortOf(isOffered ? values.sort! : null, '-startDate');
  const { after, before } = values;
  const body = {
    filter: instanceFilter(values),
    sort: [sort],
    page: { limit: SIZE, ...(after && { after }), ...(before && { before }) },
  };
  const found = useResource<Page<Instance>>(JSON.stringify(body), (abort) => search('process-instances', body, abort), [
    'instances',
  ]);
  const rowsCame = found.data.value !== undefined || found.problem.value !== null; // before them, the choice of processes would only be in their way
  const definitions = useResource(
    rowsCame ? 'definitions' : '',
    (abort) => search<Definition>('process-definitions', { page: { limit: MOST_DEFINITIONS } }, abort),
    ['definitions'],
  );
  const ids = shown(values.state);
  const items = found.data.value?.items ?? [];
  const variables = useValues(items, ids);
  const ticked = useSignal<{ of: string; keys: ReadonlySet<string> }>({ of: '', keys: new Set() });
  const list = JSON.stringify(body.filter);
  const keys = ticked.value.of === list ? ticked.value.keys : new Set<string>(); // another filter begins anew
  const isRunning =
    ['active', 'incidents', 'late'].includes(values.state ?? 'active') && !!found.data.value?.page.totalItems;
  const hasFilter = Object.keys(values).some((name) => !['sort', 'columns'].includes(name));
  return (
    <>
      <Head
        title={t('nav.instances')}
        actions={
          <>
            {isRunning && !keys.size && <Migrate definitions={definitions.data.value?.items ?? []} />}
            <All filter={body.filter} state={values.state ?? 'active'} page={found.data.value?.page} ticked={keys} />
            {items.length > 0 && (
              <a class="button" download href={fileOf(body.filter, [sort], ids)} title={t('export.note')}>
                {t('export.do')}
              </a>
            )}
            <SavedViews resource="process-instances" more={{ columns: remembered.value }} />
            <ColumnChoice state={values.state} />
          </>
        }
      />
      <Filters definitions={definitions.data.value?.items ?? []} />
      <List
        label={t('nav.instances')}
        count="count.instances"
        found={found}
        columns={columnsOf(ids, variables, sorts)}
        ticked={keys}
        onTick={(to) => {
          ticked.value = { of: list, keys: to };
        }}
        id={(i) => i.processInstanceKey}
        sort={sort}
        size={SIZE}
        empty={
          <>
            <p>{t(hasFilter ? 'empty.filtered' : 'empty.instances')}</p>
            <a class="button" href={href('/instances', { state: 'all' })}>
              {t('filter.showAll')}
            </a>
          </>
        }
      />
    </>
  );
}
