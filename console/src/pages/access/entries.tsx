// The list of one kind: users, groups, roles, tenants or mapping rules.
import { search } from '../../lib/api.ts';
import { t } from '../../lib/i18n.ts';
import { useResource } from '../../lib/resource.ts';
import { go, href, put, query } from '../../lib/router.ts';
import type { Page } from '../../lib/shapes.ts';
import { Opening } from '../../parts/opening.tsx';
import { type Column, List, sortOf } from '../../parts/table.tsx';
import { EntryDialog } from './entry_dialog.tsx';
import { Frame } from './frame.tsx';
import type { Entry, Kind } from './kinds.ts';

const SIZE = 50;

export const entryUrl = (kind: Kind, id: string): string => href(`/access/${kind.path}/${encodeURIComponent(id)}`);

const columnsOf = (kind: Kind): Column<Entry>[] => [
  {
    title: t(kind.one),
    sort: kind.id,
    wide: true,
    cell: (entry) => (
      <a data-row href={entryUrl(kind, entry[kind.id]!)}>
        <b>{entry[kind.id]}</b>
      </a>
    ),
  },
  ...kind.fields.map(
    ({ name, label }): Column<Entry> => ({
      title: t(label),
      wide: true,
      cell: (entry) => entry[name] ?? <span class="dim">–</span>,
    }),
  ),
];

function CreateButton({ kind }: { kind: Kind }) {
  return (
    <Opening need={[kind.type, 'CREATE']} class="primary" text={t('access.create', { what: t(kind.one) })}>
      {(close) => <EntryDialog kind={kind} entry={null} onClose={close} onDone={(id) => go(entryUrl(kind, id))} />}
    </Opening>
  );
}

function Found({ kind }: { kind: Kind }) {
  const { q, after, before, sort } = Object.fromEntries(query.value);
  const order = sortOf(sort ?? null, kind.id);
  const filter = q ? { [kind.id]: kind.like ? { $like: `*${q}*` } : q } : {};
  const body = { filter, sort: [order], page: { limit: SIZE, ...(after && { after }), ...(before && { before }) } };
  const found = useResource<Page<Entry>>(kind.path + JSON.stringify(body), (abort) => search(kind.path, body, abort), [
    '@access',
  ]);
  return (
    <>
      <form class="filters" role="search" aria-label={t('filters')} onSubmit={(event) => event.preventDefault()}>
        <input
          type="search"
          data-search
          placeholder={t('field.id')}
          aria-label={t('field.id')}
          value={q ?? ''}
          onChange={(event) => put({ q: event.currentTarget.value || null, after: null, before: null })}
        />
      </form>
      <List
        label={t(kind.title)}
        found={found}
        columns={columnsOf(kind)}
        id={(entry) => entry[kind.id]!}
        sort={order}
        size={SIZE}
        empty={
          <>
            <p>{q ? t('empty.access') : t(kind.note)}</p>
            <CreateButton kind={kind} />
          </>
        }
      />
    </>
  );
}

export function Entries({ kind }: { kind: Kind }) {
  return (
    <Frame title={t(kind.title)} need={[kind.type, 'READ']} actions={<CreateButton kind={kind} />}>
      <Found key={kind.path} kind={kind} />
    </Frame>
  );
}
