// Sessions of browsers: of the user, or of somebody whom the user may sign out.
import { useSignal } from '@preact/signals';
import { get } from '../../lib/api.ts';
import { argument, type Command } from '../../lib/commands.ts';
import { t } from '../../lib/i18n.ts';
import { useResource } from '../../lib/resource.ts';
import type { Need } from '../../lib/session.ts';
import { Act, lackOf } from '../../parts/act.tsx';
import { ActionDialog } from '../../parts/action.tsx';
import { ProblemBox } from '../../parts/problem.tsx';
import { Table } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { pathOf } from './kinds.ts';

type Session = {
  sessionKey: string;
  username: string;
  provider: string;
  isThis: boolean;
  createdAt: string;
  usedAt: string;
  expiresAt: string;
};
type ListProps = { title: string; note: string; path: string; need: Need | null; all?: Command };

function SessionsAt({ title, note, path, need, all }: ListProps) {
  const found = useResource(path, (abort) => get<{ items: Session[] }>(path, abort), ['@access']);
  const items = found.data.value?.items;
  const ending = useSignal<Command | null>(null);
  const end = (session: Session): Command => ({ method: 'DELETE', path: `${path}/${session.sessionKey}` });
  const isAll = ending.value !== null && ending.value === all;
  const user = items?.[0]?.username ?? '';
  return (
    <section aria-label={title}>
      <h2>{title}</h2>
      <p class="dim">{note}</p>
      {found.problem.value && <ProblemBox problem={found.problem.value} retry={found.reload} />}
      {items && !items.length && <p class="dim">{t('session.none')}</p>}
      {items && items.length > 0 && (
        <div class="scroll">
          <Table
            label={title}
            items={items}
            id={(session) => session.sessionKey}
            columns={[
              {
                title: t('session.since'),
                wide: true,
                cell: (session) => (
                  <>
                    <Time at={session.createdAt} />
                    {session.isThis && (
                      <>
                        {' '}
                        <span class="tag">{t('session.this')}</span>
                      </>
                    )}
                  </>
                ),
              },
              { title: t('session.used'), cell: (session) => <Time at={session.usedAt} /> },
              { title: t('session.until'), cell: (session) => <Time at={session.expiresAt} /> },
              {
                title: t('session.by'),
                cell: (session) => t(session.provider === 'OIDC' ? 'session.oidc' : 'session.password'),
              },
              {
                title: t('actions'),
                cell: (session) =>
                  !session.isThis && (
                    <Act
                      need={need}
                      onClick={() => {
                        ending.value = end(session);
                      }}
                    >
                      {t('session.end')} …
                    </Act>
                  ),
              },
            ]}
          />
        </div>
      )}
      {all && items && items.length > 0 && (
        <p>
          <Act
            need={need}
            onClick={() => {
              ending.value = all;
            }}
          >
            {t('session.endAll')} …
          </Act>
        </p>
      )}
      {ending.value && (
        <ActionDialog
          title={t(isAll ? 'session.endAll' : 'session.end')}
          button={t(isAll ? 'session.endAll' : 'session.end')}
          danger
          onClose={() => {
            ending.value = null;
          }}
          commands={[ending.value]}
        >
          <p>{isAll ? t('session.endAllNote', { user }) : t('session.endNote')}</p>
        </ActionDialog>
      )}
    </section>
  );
}

export function OwnSessions() {
  return (
    <SessionsAt
      title={t('session.own')}
      note={t('session.own.note')}
      path="/v2/authentication/me/sessions"
      need={null}
    />
  );
}

export function SessionsOf({ username }: { username: string }) {
  const path = pathOf('users', username, 'sessions');
  const need: Need = ['USER', 'UPDATE'];
  const all = useSignal<Command>({ method: 'DELETE', path, cli: `user sign-out ${argument(username)}` }).value;
  return lackOf(['USER', 'READ']) ? null : (
    <SessionsAt title={t('access.sessions')} note={t('access.sessions.note')} path={path} need={need} all={all} />
  );
}
