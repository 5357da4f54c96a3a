// The frame: navigation, what every page has, the search, and the dialogs of the keyboard.

import { signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { search } from '../lib/api.ts';
import { dragging } from '../lib/drop.ts';
import { type Key, t, total } from '../lib/i18n.ts';
import { HELP, helpOpen, paletteOpen } from '../lib/keys.ts';
import { following, source } from '../lib/live.ts';
import { useResource } from '../lib/resource.ts';
import { href, path } from '../lib/router.ts';
import { may, me, type Need, READ_INSTANCE, READ_TASK } from '../lib/session.ts';
import { shortcuts } from '../lib/settings.ts';
import { Banner } from './banner.tsx';
import { Dialog } from './dialog.tsx';
import { Opened } from './lazy.tsx';
import { Notices } from './notices.tsx';
import { MINOR, NAVIGATION } from './places.ts';

const palette = async () => (await import('./palette.tsx')).Palette;
const background = async () => (await import('./background.tsx')).Background;
const here = (to: string): boolean =>
  to === '/'
    ? path.value === '/'
    : `${path.value}/`.startsWith(`${to}/`) || (to === '/decisions' && path.value.startsWith('/decision-instances'));

const BADGES: Record<string, { resource: string; state: string; need: Need; calm: boolean }> = {
  '/incidents': { resource: 'incidents', state: 'ACTIVE', need: READ_INSTANCE, calm: false },
  '/tasks': { resource: 'user-tasks', state: 'CREATED', need: READ_TASK, calm: true },
};

/** The page comes first. */
const later = signal(false);

/** The number of those that wait, beside the name of a page. */
function Badge({ to }: { to: string }) {
  const { resource, state, need, calm } = BADGES[to]!;
  const found = useResource(
    later.value && may(need) ? `badge ${resource}` : '',
    (abort) => search(resource, { filter: { state }, page: { limit: 1 } }, abort),
    [resource],
  );
  const page = found.data.value?.page;
  return page && page.totalItems > 0 ? <em class={calm ? 'calm' : undefined}>{total(page)}</em> : null;
}

/** The signed-in user, with the page of the password and the way out. Nothing without a session. */
function SignOut() {
  const user = me.value;
  return user?.canLogout ? (
    <form class="follow" method="post" action="/console/logout">
      <a class="minor" href="/console/password" target="_self">
        {user.displayName ?? user.username}
      </a>
      <button type="submit" class="quiet">
        {t('signOut')}
      </button>
    </form>
  ) : null;
}

/** A page of the navigation. */
function PlaceLink({ to, text, sign }: { to: string; text: Key; sign: string }) {
  return (
    <a href={href(to)} aria-current={here(to) ? 'page' : undefined}>
      <span>
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d={sign} />
        </svg>
        {t(text)}
      </span>
      {BADGES[to] && <Badge to={to} />}
    </a>
  );
}

/** On a small screen its pages are in a drawer, which a button opens. A page that is chosen, or Escape, closes it. */
function Navigation() {
  const nav = useRef<HTMLElement>(null);
  const open = useSignal(false);
  useEffect(() => {
    open.value = false;
  }, [path.value]);
  const close = (): void => {
    if (open.value) nav.current!.querySelector('button')!.focus();
    open.value = false;
  };
  return (
    <nav
      class={open.value ? 'main open' : 'main'}
      aria-label={t('nav.main')}
      ref={nav}
      onKeyDown={(event) => {
        if (event.key === 'Escape') close();
      }}
      onFocusOut={({ relatedTarget, currentTarget }) => {
        if (relatedTarget && !currentTarget.contains(relatedTarget as Node)) open.value = false;
      }}
    >
      <div class="bar">
        <a class="brand" href={href('/')}>
          vivero
        </a>
        <button
          type="button"
          class="drawer"
          aria-expanded={open.value}
          onClick={() => {
            open.value = !open.value;
          }}
        >
          {t('nav.menu')}
        </button>
      </div>
      {NAVIGATION.map((group) => (
        <div key={group[0]![0]} class="places">
          {group.map(([to, text, sign]) => (
            <PlaceLink key={to} to={to} text={text} sign={sign} />
          ))}
        </div>
      ))}
      <div class="below">
        <div class="minors">
          {MINOR.map(([to, text]) => (
            <a key={to} class="minor" href={href(to)} aria-current={here(to) ? 'page' : undefined}>
              {t(text)}
            </a>
          ))}
        </div>
        <button
          type="button"
          class="search"
          onClick={() => {
            paletteOpen.value = true;
          }}
        >
          {t('search')} <kbd>Ctrl K</kbd>
        </button>
        <p class="follow">
          <button
            type="button"
            class={following.value ? 'quiet on' : 'quiet'}
            aria-pressed={following.value}
            title={t(source.value === 'stream' ? 'live.stream' : 'live.polling')}
            onClick={() => {
              following.value = !following.value;
            }}
          >
            {t(following.value ? 'live.on' : 'live.paused')}
          </button>
          <button
            type="button"
            class="quiet"
            onClick={() => {
              helpOpen.value = true;
            }}
            aria-label={t('help.title')}
          >
            ?
          </button>
        </p>
        <SignOut />
      </div>
    </nav>
  );
}

function Help() {
  return (
    <Dialog
      title={t('help.title')}
      onClose={() => {
        helpOpen.value = false;
      }}
    >
      <dl class="keys">
        {HELP.map(([key, text]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{t(text)}</dd>
          </div>
        ))}
      </dl>
      <p>
        <label class="check">
          <input
            type="checkbox"
            checked={shortcuts.value === 'on'}
            onChange={(event) => {
              shortcuts.value = event.currentTarget.checked ? 'on' : 'off';
            }}
          />{' '}
          {t('help.shortcuts')}
        </label>
      </p>
    </Dialog>
  );
}

const SOON_MS = 300;

export function Shell({ children }: { children: ComponentChildren }) {
  // The palette is there before anybody wants it: what one types after Ctrl K must not get lost.
  useEffect(() => {
    window.setTimeout(() => {
      later.value = true;
      void palette();
    }, SOON_MS);
  }, []);
  return (
    <>
      <a class="skip" href="#main">
        {t('skip')}
      </a>
      <Navigation />
      <main id="main" tabIndex={-1}>
        {children}
      </main>
      <Notices />
      {dragging.value && (
        <div class="dropping" role="status">
          <b>{t('deploy.dropHere')}</b>
        </div>
      )}
      <Banner />
      {later.value && <Opened load={background} props={{}} />}
      {paletteOpen.value && <Opened load={palette} props={{}} />}
      {helpOpen.value && <Help />}
    </>
  );
}
