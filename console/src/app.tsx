// The table of contents: path → page.
import type { ComponentChild, ComponentType } from 'preact';
import { type Key, t } from './lib/i18n.ts';
import { askForInstance } from './lib/instance.ts';
import { href, match, path } from './lib/router.ts';
import { askForProcess } from './lib/versions.ts';
import { Home } from './pages/home.tsx';
import { Head } from './parts/head.tsx';
import { Lazy } from './parts/lazy.tsx';
import { Shell } from './parts/shell.tsx';

// Pages in chunks of their own: the first page loads without them.
const access = async () => (await import('./pages/access/access.tsx')).Access;
const deploy = async () => (await import('./pages/deploy.tsx')).Deploy;
const incidents = async () => (await import('./pages/incidents.tsx')).Incidents;
const instances = async () => (await import('./pages/instances.tsx')).Instances;
const instance = async () => (await import('./pages/instance.tsx')).Instance;
const processes = async () => (await import('./pages/processes.tsx')).Processes;
const process = async () => (await import('./pages/process.tsx')).Process;
const versions = async () => (await import('./pages/versions.tsx')).Versions;
const landscape = async () => (await import('./pages/landscape.tsx')).LandscapePage;
const clusterVariables = async () => (await import('./pages/cluster_variables.tsx')).ClusterVariables;
const decision = async () => (await import('./pages/decision.tsx')).Decision;
const decisionInstance = async () => (await import('./pages/decision_instance.tsx')).DecisionInstance;
const decisionInstances = async () => (await import('./pages/decision_instances.tsx')).DecisionInstances;
const decisions = async () => (await import('./pages/decisions.tsx')).Decisions;
const jobs = async () => (await import('./pages/jobs.tsx')).Jobs;
const buffered = async () => (await import('./pages/buffered.tsx')).Buffered;
const messages = async () => (await import('./pages/messages.tsx')).Messages;
const tasks = async () => (await import('./pages/tasks.tsx')).Tasks;
const timers = async () => (await import('./pages/timers.tsx')).Timers;
const editor = async () => (await import('./editor/editor.tsx')).Editor;
const drafts = async () => (await import('./pages/resources.tsx')).Drafts;
const feel = async () => (await import('./pages/feel.tsx')).Feel;
const log = async () => (await import('./pages/log.tsx')).Log;
const resources = async () => (await import('./pages/resources.tsx')).Resources;
const form = async () => (await import('./pages/form.tsx')).FormPage;
const matching = async () => (await import('./pages/match.tsx')).Match;
const batches = async () => (await import('./pages/batches.tsx')).Batches;
const figures = async () => (await import('./pages/figures.tsx')).Figures;
const alertRules = async () => (await import('./pages/alert_rules.tsx')).AlertRules;
const batch = async () => (await import('./pages/batches.tsx')).BatchPage;
const backgroundJobs = async () => (await import('./pages/background_jobs.tsx')).BackgroundJobs;
const inboundConnectors = async () => (await import('./pages/inbound_connectors.tsx')).InboundConnectors;
const system = async () => (await import('./pages/system.tsx')).System;
const migration = async () => (await import('./pages/migration/page.tsx')).Migration;
const about = async () => (await import('./pages/about.tsx')).About;

/** A page of a chunk. It is another one for another id, unless it `stays`. */
const lazy =
  (load: () => Promise<ComponentType<never>>, title: Key, stays = false) =>
  (values: Record<string, string>): ComponentChild => (
    <Lazy key={stays ? title : title + values.id} load={load} title={t(title)} props={values as never} />
  );

const ROUTES: readonly [pattern: string, page: (values: Record<string, string>) => ComponentChild][] = [
  ['/', () => <Home />],
  ['/processes', lazy(processes, 'nav.processes')],
  [
    '/processes/:id',
    ({ id }) => (
      <Lazy key={`process ${id}`} load={process} title={id!} props={{ id: id! }} ahead={() => askForProcess(id!)} />
    ),
  ],
  [
    '/processes/:id/versions',
    ({ id }) => <Lazy key={`versions ${id}`} load={versions} title={id!} props={{ id: id! }} />,
  ],
  ['/landscape', lazy(landscape, 'landscape')],
  ['/instances', lazy(instances, 'nav.instances', true)],
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
  ['/migrate', lazy(migration, 'migrate.title')],
  ['/incidents', lazy(incidents, 'nav.incidents')],
  ['/tasks', lazy(tasks, 'nav.tasks', true)],
  ['/tasks/:id', lazy(tasks, 'nav.tasks', true)],
  ['/decisions', lazy(decisions, 'nav.decisions')],
  ['/decisions/:id', ({ id }) => <Lazy key={`decision ${id}`} load={decision} title={id!} props={{ id: id! }} />],
  ['/decision-instances', lazy(decisionInstances, 'decision.instances')],
  ['/decision-instances/:id', lazy(decisionInstance, 'decision.instance')],
  ['/messages', lazy(messages, 'nav.messages')],
  ['/messages/buffered', lazy(buffered, 'message.buffered')],
  ['/messages/match', lazy(matching, 'match.title')],
  ['/jobs', lazy(jobs, 'nav.jobs')],
  ['/timers', lazy(timers, 'nav.timers')],
  ['/batches', lazy(batches, 'nav.batches')],
  ['/batches/:id', lazy(batch, 'nav.batches')],
  ['/alert-rules', lazy(alertRules, 'alert.title')],
  ['/figures', lazy(figures, 'figures.title', true)],
  ['/log', lazy(log, 'nav.log')],
  ['/system', lazy(system, 'nav.system')],
  ['/background-jobs', lazy(backgroundJobs, 'background.title')],
  ['/inbound-connectors', lazy(inboundConnectors, 'inbound.title')],
  ['/deploy', lazy(deploy, 'nav.deploy')],
  ['/cluster-variables', lazy(clusterVariables, 'clusterVariables')],
  ['/resources', lazy(resources, 'nav.resources')],
  ['/resources/forms/:id', lazy(form, 'resource.form')],
  ['/editor', lazy(editor, 'edit')],
  ['/editor/drafts', lazy(drafts, 'edit')],
  ['/editor/:id', lazy(editor, 'edit')],
  ['/feel', lazy(feel, 'nav.feel')],
  ['/access', lazy(access, 'nav.access', true)],
  ['/access/:of', lazy(access, 'nav.access', true)],
  ['/access/:of/:id', lazy(access, 'nav.access', true)],
  ['/about', lazy(about, 'nav.about')],
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
