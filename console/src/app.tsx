// The table of contents: path → page.
import type { ComponentChild } from 'preact';
import { t } from './lib/i18n.ts';
import { href, match, path } from './lib/router.ts';
import { Incidents } from './pages/incidents.tsx';
import { Instance } from './pages/instance.tsx';
import { Instances } from './pages/instances.tsx';
import { Process } from './pages/process.tsx';
import { Processes } from './pages/processes.tsx';
import { Head, Shell } from './parts/shell.tsx';

const ROUTES: readonly [pattern: string, page: (values: Record<string, string>) => ComponentChild][] = [
  ['/', () => <Incidents />],
  ['/processes', () => <Processes />],
  ['/processes/:id', ({ id }) => <Process key={id} id={id!} />],
  ['/instances', () => <Instances />],
  ['/instances/:id', ({ id }) => <Instance key={id} id={id!} />],
  ['/incidents', () => <Incidents />],
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
