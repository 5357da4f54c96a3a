// Lists: a table that fits, rows reached with j and k, pages by cursors, and what to do when it is empty.
import type { ComponentChildren } from 'preact';
import { type Counted, counted, t } from '../lib/i18n.ts';
import type { Resource } from '../lib/resource.ts';
import { put } from '../lib/router.ts';
import type { Page, PageInfo } from '../lib/shapes.ts';
import { ProblemBox } from './problem.tsx';

/** `id`: for columns that may share a title. `has`: whether a row has something in it; the column is there if some row has. */
export type Column<T> = {
  id?: string;
  title: string;
  cell: (item: T) => ComponentChildren;
  sort?: string;
  wide?: boolean;
  has?: (item: T) => boolean;
};
export type Sort = { field: string; order: 'ASC' | 'DESC' };

/** `startDate`, or `-startDate` for descending, as in the URL. */
export const sortOf = (text: string | null, fallback: string): Sort => {
  const given = text || fallback;
  return given.startsWith('-') ? { field: given.slice(1), order: 'DESC' } : { field: given, order: 'ASC' };
};

function Head<T>({ column, sort }: { column: Column<T>; sort: Sort | undefined }) {
  if (!column.sort) return <th scope="col">{column.title}</th>;
  const active = sort?.field === column.sort;
  const next = active && sort.order === 'DESC' ? column.sort : `-${column.sort}`;
  const direction = !active ? undefined : sort.order === 'ASC' ? 'ascending' : 'descending';
  return (
    <th scope="col" aria-sort={direction}>
      <button type="button" class="sort" onClick={() => put({ sort: next, after: null, before: null })}>
        {column.title}
        <i aria-hidden="true">{active ? (sort.order === 'ASC' ? '↑' : '↓') : ''}</i>
      </button>
    </th>
  );
}

/** Rows that can be ticked. */
type Ticking = { ticked?: ReadonlySet<string>; onTick?: (ids: ReadonlySet<string>) => void };

type TableProps<T> = Ticking & {
  label: string;
  columns: Column<T>[];
  items: T[];
  id: (item: T) => string;
  sort?: Sort;
};

/** A box that ticks these rows, or none of them. */
function Tick({ of, name, ticked, onTick }: { of: string[]; name: string } & Required<Ticking>) {
  const isTicked = of.every((id) => ticked.has(id));
  const others = [...ticked].filter((id) => !of.includes(id));
  return (
    <label class="tick">
      <input
        type="checkbox"
        checked={isTicked}
        onChange={() => onTick(new Set(isTicked ? others : [...others, ...of]))}
      />
      <span class="sr">{name}</span>
    </label>
  );
}

export function Table<T>({ label, columns: all, items, id, sort, ticked, onTick }: TableProps<T>) {
  const columns = all.filter(({ has }) => !has || items.some(has));
  const ticking = ticked && onTick && { ticked, onTick };
  return (
    <table class="list cards" aria-label={label}>
      <thead>
        <tr>
          {ticking && (
            <td>
              <Tick of={items.map(id)} name={t('tick.page')} {...ticking} />
            </td>
          )}
          {columns.map((column) => (
            <Head key={column.id ?? column.title} column={column} sort={sort} />
          ))}
        </tr>
      </thead>
      <tbody>
        {items.map((item) => (
          <tr key={id(item)}>
            {ticking && (
              <td>
                <Tick of={[id(item)]} name={`${t('tick.row')} ${id(item)}`} {...ticking} />
              </td>
            )}
            {columns.map((column) => (
              <td key={column.id ?? column.title} class={column.wide ? 'wide' : undefined} data-title={column.title}>
                {column.cell(item)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function Pager({ page }: { page: PageInfo }) {
  const { after, before } = Object.fromEntries(new URLSearchParams(location.search));
  const first = !after && !before;
  return (
    <nav class="pager" aria-label={t('pages')}>
      <button type="button" disabled={first} onClick={() => put({ after: null, before: null }, false)}>
        {t('page.first')}
      </button>
      <button
        type="button"
        disabled={first || !page.startCursor}
        onClick={() => put({ before: page.startCursor, after: null }, false)}
      >
        {t('page.previous')}
      </button>
      <button
        type="button"
        disabled={!page.endCursor}
        onClick={() => put({ after: page.endCursor, before: null }, false)}
      >
        {t('page.next')}
      </button>
    </nav>
  );
}

type ListProps<T> = Ticking & {
  label: string;
  count: Counted;
  found: Resource<Page<T>>;
  columns: Column<T>[];
  id: (item: T) => string;
  sort?: Sort;
  size: number;
  empty: ComponentChildren;
};

/** A list of a search with its total and pages. */
export function List<T>({ label, count, found, columns, id, sort, size, empty, ...ticking }: ListProps<T>) {
  const page = found.data.value;
  const problem = found.problem.value;
  const paged = page && (page.items.length >= size || /[?&](after|before)=/.test(location.search));
  return (
    <section class="results" aria-busy={found.loading.value}>
      {problem && <ProblemBox problem={problem} retry={found.reload} />}
      {page && (
        <p class="total" role="status">
          {counted(count, page.page)}
        </p>
      )}
      {page &&
        (page.items.length ? (
          <Table label={label} columns={columns} items={page.items} id={id} {...(sort && { sort })} {...ticking} />
        ) : (
          <div class="empty">{empty}</div>
        ))}
      {paged && <Pager page={page.page} />}
      {!page && !problem && <p class="dim loading">{t('loading')}</p>}
    </section>
  );
}
