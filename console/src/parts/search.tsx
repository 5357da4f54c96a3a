// A list of a resource of the API with its filters in the URL.
import type { ComponentChildren } from 'preact';
import { search } from '../lib/api.ts';
import { type Counted, t, total } from '../lib/i18n.ts';
import { useResource } from '../lib/resource.ts';
import { href, path, put, query } from '../lib/router.ts';
import type { Page, SearchRequest } from '../lib/shapes.ts';
import type { ListedOn } from './problem.tsx';
import { type Column, List, sortOf } from './table.tsx';

const SIZE = 50;

export type Choice = readonly [value: string, label: string];
export type FilterField = readonly [name: string, label: string, type?: 'datetime-local'];
/** `states`: a choice, or none; its first is what an URL without it means. `fields`: name in the URL, label, what it takes beside texts. `way`: the page to go on with from an empty list. */
export type SearchProps<T> = {
  resource: string;
  label: string;
  count: Counted;
  columns: Column<T>[];
  id: (item: T) => string;
  sort: string;
  topics: string[];
  empty: ComponentChildren;
  states: Choice[];
  fields: FilterField[];
  way?: ListedOn;
  /** An action for an empty list instead. */
  offer?: ComponentChildren;
  /** Loads a page that has more than the resource itself. */
  load?: (body: SearchRequest, abort: AbortSignal) => Promise<Page<T>>;
  filter: (state: string, values: Record<string, string>) => Record<string, unknown>;
  /** Actions on all that match, of which there are some. */
  actions?: (filter: Record<string, unknown>, total: string) => ComponentChildren;
};

/** The sort of the URL, if a column offers it. */
const offered = <T,>(columns: Column<T>[], sort: string | undefined): string | null =>
  columns.some((column) => column.sort && column.sort === sort?.replace(/^-/, '')) ? sort! : null;

export function SearchPage<T>({
  resource,
  label,
  count,
  columns,
  id,
  sort,
  topics,
  empty,
  states,
  fields,
  filter,
  way = ['/processes', 'nav.processes'],
  offer,
  actions,
  load = (body, abort) => search(resource, body, abort),
}: SearchProps<T>) {
  const values = Object.fromEntries(query.value);
  const state = values.state ?? states[0]?.[0] ?? '';
  const order = sortOf(offered(columns, values.sort), sort);
  const { after, before } = values;
  const body = {
    filter: filter(state, values),
    sort: [order],
    page: { limit: SIZE, ...(after && { after }), ...(before && { before }) },
  };
  const found = useResource<Page<T>>(resource + JSON.stringify(body), (abort) => load(body, abort), topics);
  const page = found.data.value?.page;
  const isFiltered = Object.keys(values).some((name) => name !== 'sort');
  const set = (name: string, value: string) => put({ [name]: value || null, after: null, before: null });
  return (
    <>
      <form class="filters" role="search" aria-label={t('filters')} onSubmit={(event) => event.preventDefault()}>
        {states.length > 0 && (
          <fieldset class="states">
            <legend class="sr">{t('state')}</legend>
            {states.map(([value, text], i) => (
              <label key={value}>
                <input
                  type="radio"
                  name="state"
                  checked={state === value}
                  onChange={() => set('state', i ? value : '')}
                />
                {text}
              </label>
            ))}
          </fieldset>
        )}
        {fields.map(([name, text, type], i) => {
          const field = (
            <input
              key={name}
              type={type ?? 'search'}
              {...(i === 0 && { 'data-search': '' })}
              placeholder={text}
              aria-label={text}
              value={values[name] ?? ''}
              onChange={(event) => set(name, event.currentTarget.value)}
            />
          );
          return type ? (
            <span key={name}>
              <span aria-hidden="true">{text}</span> {field}
            </span>
          ) : (
            field
          );
        })}
        {!!page?.totalItems && actions?.(body.filter, total(page))}
      </form>
      <List
        label={label}
        count={count}
        found={found}
        columns={columns}
        id={id}
        sort={order}
        size={SIZE}
        empty={
          <>
            <p>{empty}</p>
            {isFiltered ? (
              <a class="button" href={href(path.value)}>
                {t('filter.clear')}
              </a>
            ) : (
              (offer ?? (
                <a class="button" href={href(way[0])}>
                  {t(way[1])}
                </a>
              ))
            )}
          </>
        }
      />
    </>
  );
}
