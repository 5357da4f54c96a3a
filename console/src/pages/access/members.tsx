// Members of a group, role or tenant; and what somebody is a member of.
import { useSignal } from '@preact/signals';
import { search } from '../../lib/api.ts';
import { argument, type Command, perform } from '../../lib/commands.ts';
import { t, total } from '../../lib/i18n.ts';
import { useResource } from '../../lib/resource.ts';
import { href } from '../../lib/router.ts';
import type { Page } from '../../lib/shapes.ts';
import { Act } from '../../parts/act.tsx';
import { ActionDialog } from '../../parts/action.tsx';
import { CopyCommands } from '../../parts/copy_commands.tsx';
import { ProblemBox } from '../../parts/problem.tsx';
import { entryUrl } from './entries.tsx';
import { type Entry, type Kind, kindOf, type MemberKind, pathOf } from './kinds.ts';

const MOST = 200;
const CONTAINERS = 20;

/** The command that adds a member, or removes it. */
function memberCommand(method: 'PUT' | 'DELETE', container: Kind, id: string, of: MemberKind, member: string): Command {
  const word = method === 'PUT' ? 'assign' : 'unassign';
  const path = pathOf(container.path, id, of.path, member);
  if (container.path === 'roles' && of.path === 'users')
    return { method, path, cli: `role ${word} ${argument(id)} ${argument(member)}` };
  if (container.path !== 'tenants') return { method, path };
  return {
    method,
    path,
    cli: `tenant ${word} ${argument(id)} ${argument(member)}${of.path === 'users' ? '' : ` --type ${of.path.slice(0, -1)}`}`,
  };
}

function Suggestions({ of, list }: { of: MemberKind; list: string }) {
  const known = useResource(kindOf(of.path) ? `known ${of.path}` : '', (abort) =>
    search<Entry>(of.path, { page: { limit: MOST } }, abort),
  ).data.value;
  return (
    <datalist id={list}>
      {known?.items.map((entry) => (
        <option key={entry[of.id]} value={entry[of.id]!}>
          {entry.name ?? ''}
        </option>
      ))}
    </datalist>
  );
}

function Add({ container, id, of }: { container: Kind; id: string; of: MemberKind }) {
  const member = useSignal('');
  const list = `members-${of.path}`;
  const command = memberCommand('PUT', container, id, of, member.value);
  const add = async () => {
    if (member.value && (await perform(t('access.add'), command))) member.value = '';
  };
  return (
    <>
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          void add();
        }}
      >
        <input
          list={list}
          placeholder={t(of.label)}
          aria-label={`${t('access.add')}: ${t(of.label)}`}
          value={member.value}
          onInput={(event) => {
            member.value = event.currentTarget.value;
          }}
        />
        <Act need={[container.type, 'UPDATE']} disabled={!member.value} onClick={() => void add()}>
          {t('access.add')}
        </Act>
        <Suggestions of={of} list={list} />
      </form>
      {member.value && <CopyCommands commands={[command]} />}
    </>
  );
}

export function Members({ container, id, of }: { container: Kind; id: string; of: MemberKind }) {
  const path = `${container.path}/${encodeURIComponent(id)}/${of.path}`;
  const found = useResource<Page<Entry>>(path, (abort) => search(path, { page: { limit: MOST } }, abort), ['@access']);
  const page = found.data.value;
  const kind = kindOf(of.path);
  const leaving = useSignal<string | null>(null);
  return (
    <section aria-label={t(of.label)}>
      <h2>
        {t(of.label)} {page && <span class="dim">{total(page.page)}</span>}
      </h2>
      {found.problem.value && <ProblemBox problem={found.problem.value} retry={found.reload} />}
      <ul class="members">
        {page?.items
          .map((entry) => entry[of.id]!)
          .map((member) => (
            <li key={member}>
              {kind ? <a href={entryUrl(kind, member)}>{member}</a> : member}
              <Act
                need={[container.type, 'UPDATE']}
                class="quiet"
                label={`${t('access.remove')} ${member}`}
                onClick={() => {
                  leaving.value = member;
                }}
              >
                ×
              </Act>
            </li>
          ))}
      </ul>
      {leaving.value !== null && (
        <ActionDialog
          title={`${t('access.remove')} ${leaving.value}`}
          button={t('access.remove')}
          onClose={() => {
            leaving.value = null;
          }}
          commands={[memberCommand('DELETE', container, id, of, leaving.value)]}
        >
          <p>{t('access.removeNote', { member: leaving.value, of: id })}</p>
        </ActionDialog>
      )}
      <Add container={container} id={id} of={of} />
    </section>
  );
}

type Membership = { id: string; name: string; isMember: boolean };

async function membershipsOf(
  container: Kind,
  of: MemberKind,
  member: string,
  abort: AbortSignal,
): Promise<{ items: Membership[]; more: boolean }> {
  const page = await search<Entry>(
    container.path,
    { sort: [{ field: container.id, order: 'ASC' }], page: { limit: CONTAINERS } },
    abort,
  );
  const items = await Promise.all(
    page.items.map(async (entry) => {
      const id = entry[container.id]!;
      const path = `${container.path}/${encodeURIComponent(id)}/${of.path}`;
      const { page: count } = await search(path, { filter: { [of.id]: member }, page: { limit: 1 } }, abort);
      return { id, name: entry.name ?? id, isMember: count.totalItems > 0 };
    }),
  );
  return { items, more: page.page.totalItems > CONTAINERS };
}

/** The roles, groups or tenants of somebody, to be ticked. */
export function Memberships({ container, member, id }: { container: Kind; member: MemberKind; id: string }) {
  const found = useResource(
    `memberships ${container.path} ${id}`,
    (abort) => membershipsOf(container, member, id, abort),
    ['@access'],
  );
  const data = found.data.value;
  const open = useSignal<Membership | null>(null);
  const changing = open.value;
  const verb = t(changing?.isMember ? 'access.remove' : 'access.add');
  return (
    <section aria-label={t(container.title)}>
      <h2>{t(container.title)}</h2>
      {found.problem.value && <ProblemBox problem={found.problem.value} retry={found.reload} />}
      {data && !data.items.length && <p class="dim">{t('variables.none')}</p>}
      <ul class="ticks-list">
        {data?.items.map((one) => (
          <li key={one.id}>
            <Act
              need={[container.type, 'UPDATE']}
              class={one.isMember ? 'tick on' : 'tick'}
              label={`${one.name}: ${t(one.isMember ? 'access.remove' : 'access.add')}`}
              onClick={() => {
                open.value = one;
              }}
            >
              <i aria-hidden="true">{one.isMember ? '✓' : '+'}</i> {one.name}
            </Act>
          </li>
        ))}
      </ul>
      {changing && (
        <ActionDialog
          title={`${changing.name}: ${verb}`}
          button={verb}
          onClose={() => {
            open.value = null;
          }}
          commands={[memberCommand(changing.isMember ? 'DELETE' : 'PUT', container, changing.id, member, id)]}
        >
          <p>{t(changing.isMember ? 'access.removeNote' : 'access.addNote', { member: id, of: changing.name })}</p>
        </ActionDialog>
      )}
      {data?.more && (
        <p class="dim">
          <a href={href(`/access/${container.path}`)}>{t('access.more')}</a>
        </p>
      )}
    </section>
  );
}
