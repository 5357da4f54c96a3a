// One user, group, role, tenant or mapping rule: its fields, members, memberships and grants.
import { get } from '../../lib/api.ts';
import { argument } from '../../lib/commands.ts';
import { t } from '../../lib/i18n.ts';
import { useResource } from '../../lib/resource.ts';
import { go, href } from '../../lib/router.ts';
import { ActionDialog } from '../../parts/action.tsx';
import { Opening } from '../../parts/opening.tsx';
import { ProblemBox } from '../../parts/problem.tsx';
import { EntryDialog } from './entry_dialog.tsx';
import { Frame } from './frame.tsx';
import { GrantsOf } from './grants.tsx';
import { BUILT_IN_ROLES, containersOf, type Entry as EntryShape, type Kind, MEMBERS, pathOf } from './kinds.ts';
import { Members, Memberships } from './members.tsx';
import { SessionsOf } from './sessions.tsx';

function Actions({ kind, id, entry }: { kind: Kind; id: string; entry: EntryShape }) {
  if (kind.path === 'roles' && BUILT_IN_ROLES.includes(id)) return <span class="tag">{t('access.builtIn')}</span>;
  const cli =
    kind.path === 'users'
      ? { cli: `user delete ${argument(id)}` }
      : kind.path === 'tenants'
        ? { cli: `tenant delete ${argument(id)}` }
        : {};
  return (
    <>
      <Opening need={[kind.type, 'UPDATE']} text={t('change')}>
        {(close) => <EntryDialog kind={kind} entry={entry} onClose={close} />}
      </Opening>
      <Opening need={[kind.type, 'DELETE']} text={t('delete')}>
        {(close) => (
          <ActionDialog
            title={t('delete')}
            button={t('delete')}
            danger
            onClose={close}
            onDone={() => go(href(`/access/${kind.path}`))}
            commands={[{ method: 'DELETE', path: pathOf(kind.path, id), ...cli }]}
          >
            <p>{t('access.deleteNote', { id })}</p>
          </ActionDialog>
        )}
      </Opening>
    </>
  );
}

function Body({ kind, id, entry }: { kind: Kind; id: string; entry: EntryShape }) {
  const isOwner = MEMBERS.some(({ type }) => type === kind.type);
  return (
    <div class="access">
      <dl class="facts">
        {kind.fields.map(({ name, label }) => (
          <div key={name}>
            <dt>{t(label)}</dt>
            <dd>{entry[name] ?? <span class="dim">–</span>}</dd>
          </div>
        ))}
      </dl>
      {kind.members.map((path) => (
        <Members key={path} container={kind} id={id} of={MEMBERS.find((each) => each.path === path)!} />
      ))}
      {containersOf(kind.path).map((container) => (
        <Memberships
          key={container.path}
          container={container}
          member={MEMBERS.find((each) => each.path === kind.path)!}
          id={id}
        />
      ))}
      {isOwner && <GrantsOf ownerType={kind.type} ownerId={id} />}
      {kind.path === 'users' && <SessionsOf username={id} />}
    </div>
  );
}

export function Entry({ kind, id }: { kind: Kind; id: string }) {
  const found = useResource(`${kind.path} ${id}`, (abort) => get<EntryShape>(pathOf(kind.path, id), abort), [
    '@access',
  ]);
  const entry = found.data.value;
  return (
    <Frame
      title={id}
      need={[kind.type, 'READ']}
      crumbs={<a href={href(`/access/${kind.path}`)}>{t(kind.title)}</a>}
      note={t(kind.one)}
      actions={entry && <Actions kind={kind} id={id} entry={entry} />}
    >
      {found.problem.value ? (
        <ProblemBox problem={found.problem.value} retry={found.reload} of={[`/access/${kind.path}`, kind.title]} />
      ) : entry ? (
        <Body kind={kind} id={id} entry={entry} />
      ) : (
        <p class="dim loading">{t('loading')}</p>
      )}
    </Frame>
  );
}
