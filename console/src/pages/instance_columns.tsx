// The columns of a list of instances: which ones there are, which ones are shown, and variables as columns.
import '../styles/parts/columns.css';
import { computed, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { search } from '../lib/api.ts';
import { type Key, t } from '../lib/i18n.ts';
import { useResource } from '../lib/resource.ts';
import { href, put, query, withQuery } from '../lib/router.ts';
import { columns as remembered } from '../lib/settings.ts';
import type { Instance, Page, SearchRequest, Variable } from '../lib/shapes.ts';
import { ago, between } from '../lib/time.ts';
import { processUrl } from '../lib/urls.ts';
import { Field } from '../parts/field.tsx';
import { Late } from '../parts/late.tsx';
import { State } from '../parts/state.tsx';
import type { Column } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';

/** It stands in front of the name of a variable. */
const VARIABLE = 'variable:';
const MOST_VARIABLES = 10;
const PAGE = 1000;
/** Characters of a variable in a row. */
const LONG = 60;

type Known = {
  title: Key;
  cell: (i: Instance) => ComponentChildren;
  /** The fields of the API that a file has for it. */
  fields: readonly string[];
  wide?: boolean;
  sort?: string;
};

const KNOWN: Record<string, Known> = {
  instance: {
    title: 'instance',
    wide: true,
    fields: ['processInstanceKey', 'businessId'],
    cell: (i) => (
      <a data-row href={href(`/instances/${i.processInstanceKey}`)}>
        {i.businessId ? <b>{i.businessId}</b> : <code>{i.processInstanceKey}</code>}
        {i.businessId && (
          <small>
            <code>{i.processInstanceKey}</code>
          </small>
        )}
      </a>
    ),
  },
  process: {
    title: 'process',
    wide: true,
    fields: ['processDefinitionId', 'processDefinitionName', 'processDefinitionVersion'],
    cell: (i) => (
      <>
        <a href={processUrl(i.processDefinitionId, i.tenantId, { version: i.processDefinitionVersion })}>
          {i.processDefinitionName ?? i.processDefinitionId}
        </a>{' '}
        <span class="dim">v{i.processDefinitionVersion}</span>
      </>
    ),
  },
  state: {
    title: 'state',
    fields: ['state', 'hasIncident', 'lateDate'],
    cell: (i) => (
      <>
        <State of={i.state} incident={i.hasIncident} /> <Late of={i} />
      </>
    ),
  },
  started: {
    title: 'started',
    sort: 'startDate',
    fields: ['startDate'],
    cell: (i) => <Time at={i.startDate} />,
  },
  ended: { title: 'ended', sort: 'endDate', fields: ['endDate'], cell: (i) => <Time at={i.endDate} /> },
  suspended: {
    title: 'state.suspended',
    sort: 'suspendedDate',
    fields: ['suspendedDate'],
    cell: (i) => <Time at={i.suspendedDate} />,
  },
  due: { title: 'timer.due', fields: ['dueDate'], cell: (i) => <Time at={i.dueDate} /> },
  duration: {
    title: 'duration',
    fields: ['startDate', 'endDate'],
    cell: (i) => <span class="number">{i.endDate ? between(i.startDate, i.endDate) : ago(i.startDate)}</span>,
  },
  tags: {
    title: 'tags',
    fields: ['tags'],
    cell: (i) =>
      i.tags.map((tag) => (
        <a key={tag} class="tag" href={withQuery({ tag, after: null, before: null })}>
          {tag}
        </a>
      )),
  },
  tenant: { title: 'tenant', fields: ['tenantId'], cell: (i) => i.tenantId },
};

/** The columns of a list of instances in this state, unless somebody chose others. */
const usual = (state: string | undefined): string[] =>
  state === 'suspended'
    ? ['instance', 'process', 'state', 'started', 'suspended', 'duration', 'tags']
    : ['active', 'incidents', 'late', undefined].includes(state)
      ? ['instance', 'process', 'state', 'started', 'duration', 'tags']
      : ['instance', 'process', 'state', 'started', 'ended', 'duration', 'tags'];

const chosen = computed((): string[] | null => {
  const text = query.value.get('columns') ?? remembered.value;
  const names = [...new Set(text.split(','))].filter((name) => Object.hasOwn(KNOWN, name) || !!variableOf(name));
  return text ? ['instance', ...names.filter((name) => name !== 'instance')] : null;
});

/** The ids of the columns that the list shows. The first one leads to the instance, and always stays. */
export const shown = (state: string | undefined): string[] => chosen.value ?? usual(state);

const idOf = (name: string): string => VARIABLE + encodeURIComponent(name);

/** The variable that a column shows; null if it shows none. */
export function variableOf(id: string): string | null {
  try {
    return id.startsWith(VARIABLE) ? decodeURIComponent(id.slice(VARIABLE.length)) : null;
  } catch {
    return null; // somebody changed the URL
  }
}

/** Key of an instance and id of a column, with a slash between → the value in the instance's own scope, as JSON. */
export type Values = ReadonlyMap<string, string>;

/** The values of variables as columns. A long one is cut, and ends with `…`. */
export async function valuesOf(
  instances: readonly Instance[],
  ids: readonly string[],
  abort?: AbortSignal,
): Promise<Values> {
  const names = ids.map(variableOf).filter((name) => name !== null);
  const values = new Map<string, string>();
  if (!names.length || !instances.length) return values;
  const filter = { scopeKey: { $in: instances.map((one) => one.processInstanceKey) }, name: { $in: names } };
  let after: string | null = null;
  do {
    const page = { limit: PAGE, ...(after && { after }) };
    const found: Page<Variable> = await search('variables', { filter, page }, abort);
    for (const { scopeKey, name, value, isTruncated } of found.items)
      values.set(`${scopeKey}/${idOf(name)}`, isTruncated ? `${value}…` : value);
    after = found.items.length === PAGE ? found.page.endCursor : null;
  } while (after);
  return values;
}

export function useValues(instances: readonly Instance[], ids: readonly string[]): Values {
  const names = ids.filter((id) => variableOf(id) !== null).join();
  const keys = instances.map((one) => one.processInstanceKey).join();
  const found = useResource<Values>(
    names && keys ? `values ${names} ${keys}` : '',
    (abort) => valuesOf(instances, ids, abort),
    ['instances'],
  );
  return found.data.value ?? new Map();
}

/** The columns with these ids, for a table. `sorts`: the fields by which it can be sorted. */
export const columnsOf = (ids: readonly string[], values: Values, sorts: readonly string[]): Column<Instance>[] =>
  ids.map((id): Column<Instance> => {
    const name = variableOf(id);
    if (name !== null) {
      const value = (i: Instance) => values.get(`${i.processInstanceKey}/${id}`) ?? '';
      return { id, title: name, cell: (i) => <code>{value(i).slice(0, LONG)}</code> };
    }
    const { title, sort, wide, cell } = KNOWN[id]!;
    return { id, title: t(title), cell, ...(wide && { wide }), ...(sort && sorts.includes(sort) && { sort }) };
  });

/** The columns of a file with what the list shows. */
const fieldsOf = (ids: readonly string[]): string[] => [
  ...new Set(
    ids.flatMap((id) => {
      const name = variableOf(id);
      return name === null ? KNOWN[id]!.fields : [VARIABLE + name];
    }),
  ),
];

/** The address of the list as CSV. The server writes the file while the browser saves it. */
export const fileOf = (filter: object, sort: NonNullable<SearchRequest['sort']>, ids: readonly string[]): string =>
  `/v2/process-instances/export?query=${encodeURIComponent(JSON.stringify({ filter, sort, columns: fieldsOf(ids) }))}`;

/** The choice of the columns that are shown. It is in the URL, and this browser remembers it. */
export function ColumnChoice({ state }: { state: string | undefined }) {
  const ids = shown(state);
  const name = useSignal('');
  const choose = (to: readonly string[] | null) => {
    remembered.value = to?.join() ?? '';
    put({ columns: to?.join() });
  };
  const add = (event: Event) => {
    event.preventDefault();
    const id = idOf(name.value.trim());
    if (name.value.trim() && !ids.includes(id)) choose([...ids, id]);
    name.value = '';
  };
  const offered = [...Object.keys(KNOWN), ...ids.filter((id) => variableOf(id) !== null)];
  const isFull = offered.length - Object.keys(KNOWN).length >= MOST_VARIABLES;
  return (
    <details class="columns">
      <summary class="button">{t('columns')}</summary>
      <div class="sheet">
        {offered.map((id) => (
          <label key={id} class="check">
            <input
              type="checkbox"
              disabled={id === 'instance'}
              checked={ids.includes(id)}
              onChange={() => choose(ids.includes(id) ? ids.filter((one) => one !== id) : [...ids, id])}
            />{' '}
            {variableOf(id) ?? t(KNOWN[id]!.title)}
          </label>
        ))}
        <form class="row" onSubmit={add}>
          <Field label={t('filter.variable')} value={name} disabled={isFull} />
          <button type="submit" disabled={isFull}>
            {t('columns.add')}
          </button>
        </form>
        <button type="button" onClick={() => choose(null)}>
          {t('columns.usual')}
        </button>
      </div>
    </details>
  );
}
