// The table of contents: path → page.
import type { ComponentChild, ComponentType } from 'preact';
import { t } from './lib/i18n.ts';
import { askForInstance } from './lib/instance.ts';
import { href, match, path } from './lib/router.ts';
import { askForProcess } from './lib/versions.ts';
import type { AccessProps } from './pages/access/access.tsx';
import { Home } from './pages/home.tsx';
import { Instances } from './pages/instances.tsx';
import { Processes } from './pages/processes.tsx';
import { Head } from './parts/head.tsx';
import { Lazy } from './parts/lazy.tsx';
import { Shell } from './parts/shell.tsx';

// Pages in chunks of their own: the first page loads without them.
const access = async (): Promise<ComponentType<AccessProps>> => (await import('./pages/access/access.tsx')).Access;
const deploy = async () => (await import('./pages/deploy.tsx')).Deploy;
const incidents = async () => (await import('./pages/incidents.tsx')).Incidents;
const instance = async () => (await import('./pages/instance.tsx')).Instance;
const process = async () => (await import('./pages/process.tsx')).Process;
const clusterVariables = async () => (await import('./pages/cluster_variables.tsx')).ClusterVariables;
const decision = async () => (await import('./pages/decision.tsx')).Decision;
const decisionInstance = async () => (await import('./pages/decision_instance.tsx')).DecisionInstance;
const decisionInstances = async () => (await import('./pages/decision_instances.tsx')).DecisionInstances;
const decisions = async () => (await import('./pages/decisions.tsx')).Decisions;
const jobs = async () => (await import('./pages/jobs.tsx')).Jobs;
const buffered = async () => (await import('./pages/buffered.tsx')).Buffered;
const messages = async () => (await import('./pages/messages.tsx')).Messages;
const tasks = async (): Promise<ComponentType<{ id?: string }>> => (await import('./pages/tasks.tsx')).Tasks;
const timers = async () => (await import('./pages/timers.tsx')).Timers;
const feel = async () => (await import('./pages/feel.tsx')).Feel;
const log = async () => (await import('./pages/log.tsx')).Log;
const matching = async () => (await import('./pages/match.tsx')).Match;
const batches = async () => (await import('./pages/batches.tsx')).Batches;
const batch = async () => (await import('./pages/batches.tsx')).BatchPage;
const system = async () => (await import('./pages/system.tsx')).System;
const migration = async () => (await import('./pages/migration/page.tsx')).Migration;
const about = async () => (await import('./pages/about.tsx')).About;

const ROUTES: readonly [pattern: string, page: (values: Record<string, string>) => ComponentChild][] = [
  ['/', () => <Home />],
  ['/processes', () => <Processes />],
  [
    '/processes/:id',
    ({ id }) => (
      <Lazy key={`process ${id}`} load={process} title={id!} props={{ id: id! }} ahead={() => askForProcess(id!)} />
    ),
  ],
  ['/instances', () => <Instances />],
  [
    '/instances/:id',
    ({ id }) => (
      <Lazy
        key={`instance ${id}`}
        load={instance}
        title={t('instance')}
        props={{ id: id! }}
        ahead={() => askForInstance(id!)}
      />
    ),
  ],
  ['/migrate', () => <Lazy key="migration" load={migration} title={t('migrate.title')} props={{}} />],
  ['/incidents', () => <Lazy key="incidents" load={incidents} title={t('nav.incidents')} props={{}} />],
  ['/tasks', () => <Lazy key="tasks" load={tasks} title={t('nav.tasks')} props={{}} />],
  ['/tasks/:id', ({ id }) => <Lazy key="tasks" load={tasks} title={t('nav.tasks')} props={{ id: id! }} />],
  ['/decisions', () => <Lazy key="decisions" load={decisions} title={t('nav.decisions')} props={{}} />],
  ['/decisions/:id', ({ id }) => <Lazy key={`decision ${id}`} load={decision} title={id!} props={{ id: id! }} />],
  [
    '/decision-instances',
    () => <Lazy key="decision instances" load={decisionInstances} title={t('decision.instances')} props={{}} />,
  ],
  [
    '/decision-instances/:id',
    ({ id }) => (
      <Lazy
        key={`decision instance ${id}`}
        load={decisionInstance}
        title={t('decision.instance')}
        props={{ id: id! }}
      />
    ),
  ],
  ['/messages', () => <Lazy key="messages" load={messages} title={t('nav.messages')} props={{}} />],
  ['/messages/buffered', () => <Lazy key="buffered" load={buffered} title={t('message.buffered')} props={{}} />],
  ['/messages/match', () => <Lazy key="match" load={matching} title={t('match.title')} props={{}} />],
  ['/jobs', () => <Lazy key="jobs" load={jobs} title={t('nav.jobs')} props={{}} />],
  ['/timers', () => <Lazy key="timers" load={timers} title={t('nav.timers')} props={{}} />],
  ['/batches', () => <Lazy key="batches" load={batches} title={t('nav.batches')} props={{}} />],
  ['/batches/:id', ({ id }) => <Lazy key={`batch ${id}`} load={batch} title={t('nav.batches')} props={{ id: id! }} />],
  ['/log', () => <Lazy key="log" load={log} title={t('nav.log')} props={{}} />],
  ['/system', () => <Lazy key="system" load={system} title={t('nav.system')} props={{}} />],
  ['/deploy', () => <Lazy key="deploy" load={deploy} title={t('nav.deploy')} props={{}} />],
  [
    '/cluster-variables',
    () => <Lazy key="cluster variables" load={clusterVariables} title={t('clusterVariables')} props={{}} />,
  ],
  ['/feel', () => <Lazy key="feel" load={feel} title={t('nav.feel')} props={{}} />],
  ['/access', () => <Lazy key="access" load={access} title={t('nav.access')} props={{}} />],
  ['/access/:of', ({ of }) => <Lazy key="access" load={access} title={t('nav.access')} props={{ of: of! }} />],
  [
    '/access/:of/:id',
    ({ of, id }) => <Lazy key="access" load={access} title={t('nav.access')} props={{ of: of!, id: id! }} />,
  ],
  ['/about', () => <Lazy key="about" load={about} title={t('nav.about')} props={{}} />],
];

function Missing() {
  return (
    <>
      <Head title={t('missing.title')} />
      <div class="empty">
        <p>{t('missing.text')}</p>
        <a class="button" href={href('/')}>
          {t('nav.home')}
        </a>
      </div>
    </>
  );
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
