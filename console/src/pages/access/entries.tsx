// The list of one kind: users, groups, roles, tenants or mapping rules.
import { t } from '../../lib/i18n.ts';
import { go, href, query } from '../../lib/router.ts';
import { Opening } from '../../parts/opening.tsx';
import { SearchPage } from '../../parts/search.tsx';
import type { Column } from '../../parts/table.tsx';
import { EntryDialog } from './entry_dialog.tsx';
import { Frame } from './frame.tsx';
import type { Entry, Kind } from './kinds.ts';

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

export function Entries({ kind }: { kind: Kind }) {
  const create = <CreateButton kind={kind} />;
  return (
    <Frame title={t(kind.title)} need={[kind.type, 'READ']} actions={create}>
      <SearchPage<Entry>
        key={kind.path}
        resource={kind.path}
        label={t(kind.title)}
        count={kind.count}
        columns={columnsOf(kind)}
        id={(entry) => entry[kind.id]!}
        sort={kind.id}
        topics={['@access']}
        empty={query.value.get('q') ? t('empty.access') : t(kind.note)}
        offer={create}
        states={[]}
        fields={[['q', t('field.id')]]}
        filter={(_, { q }) => (q ? { [kind.id]: kind.like ? { $like: `*${q}*` } : q } : {})}
      />
    </Frame>
  );
}
