// The frame of the pages of access: their head, their tabs, and what somebody without permission sees.
import type { ComponentChildren } from 'preact';
import { type Key, t } from '../../lib/i18n.ts';
import { href, path } from '../../lib/router.ts';
import type { Need } from '../../lib/session.ts';
import { lackOf, Needing } from '../../parts/act.tsx';
import { Head } from '../../parts/head.tsx';

const TABS: readonly [string, Key][] = [
  ['/access', 'access.overview'],
  ['/access/users', 'access.users'],
  ['/access/groups', 'access.groups'],
  ['/access/roles', 'access.roles'],
  ['/access/tenants', 'access.tenants'],
  ['/access/mapping-rules', 'access.mapping-rules'],
  ['/access/tokens', 'access.tokens'],
  ['/access/authorizations', 'access.authorizations'],
  ['/access/audit', 'access.audit'],
];

const isHere = (to: string): boolean => path.value === to || (to !== '/access' && path.value.startsWith(`${to}/`));

export function Tabs() {
  return (
    <nav class="tabs" aria-label={t('nav.access')}>
      {TABS.map(([to, text]) => (
        <a key={to} href={href(to)} aria-current={isHere(to) ? 'page' : undefined}>
          {t(text)}
        </a>
      ))}
    </nav>
  );
}

type FrameProps = {
  title: ComponentChildren;
  crumbs?: ComponentChildren;
  note?: ComponentChildren;
  actions?: ComponentChildren;
  need: Need | null;
  children: ComponentChildren;
};

/** A page that needs a permission. Without it, the page says which. */
export function Frame({ title, crumbs, note, actions, need, children }: FrameProps) {
  return (
    <>
      <Head title={title} crumbs={crumbs} note={note} actions={lackOf(need) ? null : actions} />
      <Tabs />
      <Needing need={need}>{children}</Needing>
    </>
  );
}
