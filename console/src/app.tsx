// The table of contents: path → page.
import type { ComponentChild, ComponentType } from 'preact';
import { t } from './lib/i18n.ts';
import { href, match, path } from './lib/router.ts';
import { About } from './pages/about.tsx';
import { Deploy } from './pages/deploy.tsx';
import { Feel } from './pages/feel.tsx';
import { Home } from './pages/home.tsx';
import { Incidents } from './pages/incidents.tsx';
import { Instance } from './pages/instance.tsx';
import { Instances } from './pages/instances.tsx';
import { Jobs } from './pages/jobs.tsx';
import { Log } from './pages/log.tsx';
import { Match } from './pages/match.tsx';
import { Messages } from './pages/messages.tsx';
import { Process } from './pages/process.tsx';
import { Processes } from './pages/processes.tsx';
import { System } from './pages/system.tsx';
import { Tasks } from './pages/tasks.tsx';
import { Timers } from './pages/timers.tsx';
import { Lazy } from './parts/lazy.tsx';
import { Head, Shell } from './parts/shell.tsx';
import type { AccessProps } from './pages/access/access.tsx';

const access = async (): Promise<ComponentType<AccessProps>> => (await import('./pages/access/access.tsx')).Access;

const ROUTES: readonly [pattern: string, page: (values: Record<string, string>) => ComponentChild][] = [
  ['/', () => <Home />],
  ['/processes', () => <Processes />],
  ['/processes/:id', ({ id }) => <Process key={id} id={id!} />],
  ['/instances', () => <Instances />],
  ['/instances/:id', ({ id }) => <Instance key={id} id={id!} />],
  ['/incidents', () => <Incidents />],
  ['/tasks', () => <Tasks />],
  ['/tasks/:id', ({ id }) => <Tasks id={id!} />],
  ['/messages', () => <Messages />],
  ['/messages/match', () => <Match />],
  ['/jobs', () => <Jobs />],
  ['/timers', () => <Timers />],
  ['/log', () => <Log />],
  ['/system', () => <System />],
  ['/deploy', () => <Deploy />],
  ['/feel', () => <Feel />],
  ['/access', () => <Lazy load={access} title={t('nav.access')} props={{}} />],
  ['/access/:of', ({ of }) => <Lazy load={access} title={t('nav.access')} props={{ of: of! }} />],
  ['/access/:of/:id', ({ of, id }) => <Lazy load={access} title={t('nav.access')} props={{ of: of!, id: id! }} />],
  ['/about', () => <About />],
];

function Missing() {
  return <><Head title={t('missing.title')} /><div class="empty"><p>{t('missing.text')}</p><a class="button" href={href('/')}>{t('nav.home')}</a></div></>;
}

function page(): ComponentChild {
  for (const [pattern, show] of ROUTES) {
    const values = match(pattern, path.value);
    if (values) return show(values);
  }
  return <Missing />;
}

export function App() {
  return <Shell>{page()}</Shell>;
}
