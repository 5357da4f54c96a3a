// Incidents, grouped by cause: one cure for each group.
import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { search } from '../lib/api.ts';
import { causeFilter, CREATE_BATCH, type Filter } from '../lib/batches.ts';
import { errorsOf } from '../lib/counts.ts';
import { grouped, type Group, placesOf, type Place } from '../lib/groups.ts';
import { number, t, total } from '../lib/i18n.ts';
import { useResource } from '../lib/resource.ts';
import { href } from '../lib/router.ts';
import type { ErrorCount, Incident, Page } from '../lib/shapes.ts';
import { curesOf } from '../lib/cures.ts';
import { processUrl } from '../lib/urls.ts';
import { UPDATE_INSTANCE } from '../lib/session.ts';
import { Act } from '../parts/act.tsx';
import { ActionDialog } from '../parts/action.tsx';
import { ProblemBox } from '../parts/problem.tsx';
import { Head } from '../parts/head.tsx';
import { Opened } from '../parts/lazy.tsx';
import { Time } from '../parts/time.tsx';
import type { BatchDialogProps } from './batch_dialogs.tsx';

const MOST = 1000, SHOWN = 8, AT_ONCE = 20;
type Found = { errors: ErrorCount[]; newest: Page<Incident> };

async function load(abort: AbortSignal): Promise<Found> {
  const body = { filter: { state: 'ACTIVE' }, sort: [{ field: 'creationTime', order: 'DESC' as const }], page: { limit: MOST } };
  const [errors, newest] = await Promise.all([errorsOf(MOST, abort), search<Incident>('incidents', body, abort)]);
  return { errors, newest };
}

/** The kind of an incident in words. */
export function kindOf(errorType: string): string {
  if (errorType.endsWith('NO_RETRIES')) return t('error.noRetries');
  const words = errorType.toLowerCase().replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const dialog = async (): Promise<ComponentType<BatchDialogProps>> => (await import('./batch_dialogs.tsx')).BatchDialog;
const Batch = ({ filter, total, onClose }: { filter: Filter; total: string; onClose: () => void }) => <Opened load={dialog} props={{ what: 'retryIncidents' as const, filter, total, onClose }} />;

/** Retry every active incident, as a batch operation. */
function RetryEverything({ of }: { of: string }) {
  const open = useSignal(false);
  return <><Act need={CREATE_BATCH} onClick={() => { open.value = true; }}>{t('incident.retryAll', { n: of })} …</Act>
    {open.value && <Batch filter={{ state: 'ACTIVE' }} total={of} onClose={() => { open.value = false; }} />}</>;
}

/** The incidents of a group at one element: which instances, and their cure. */
function PlaceRow({ place }: { place: Place }) {
  const { sample, incidents } = place, curing = useSignal(false), n = number(incidents.length);
  return <div class="place">
    <div>
      <p class="kind"><b>{kindOf(sample.errorType)}</b> · <a href={processUrl(sample.processDefinitionId, { element: sample.elementId })}>{sample.processDefinitionId} / {sample.elementId}</a> · <span class="dim"><Time at={sample.creationTime} /></span></p>
      <ul class="keys">{incidents.slice(0, SHOWN).map((incident) => <li key={incident.incidentKey}><a data-row href={href(`/instances/${incident.processInstanceKey}`, { element: incident.elementId })}><code>{incident.processInstanceKey}</code></a></li>)}</ul>
    </div>
    <Act need={UPDATE_INSTANCE} of={sample.processDefinitionId} onClick={() => { curing.value = true; }}>{incidents.length === 1 ? t('incident.retry') : t('incident.retryAll', { n })}</Act>
    {curing.value && incidents.length > AT_ONCE && <Batch filter={causeFilter(sample)} total={n} onClose={() => { curing.value = false; }} />}
    {curing.value && incidents.length <= AT_ONCE && <ActionDialog title={t('incident.retryAll', { n })} button={t('incident.retry')} commands={incidents.flatMap((incident) => curesOf(incident))} onClose={() => { curing.value = false; }}><p>{t('incident.retryNote')}</p></ActionDialog>}
  </div>;
}

function GroupCard({ group }: { group: Group }) {
  return <li class="group">
    <div class="cause">
      <p class="message">{group.message}</p>
      {placesOf(group).map((place) => <PlaceRow key={place.id} place={place} />)}
    </div>
    <div class="cure"><a class="big" href={href('/instances', { hash: group.hashes.join(',') })}>{number(group.instances)}</a></div>
  </li>;
}

export function Incidents() {
  const found = useResource('incidents', load, ['incidents']), data = found.data.value;
  const groups = data ? grouped(data.errors, data.newest.items) : [];
  return <>
    <Head title={t('nav.incidents')} actions={data && groups.length > 0 && <RetryEverything of={total(data.newest.page)} />} />
    {found.problem.value && <ProblemBox problem={found.problem.value} retry={found.reload} />}
    {!data && !found.problem.value && <p class="dim loading">{t('loading')}</p>}
    {data && <p class="total" role="status">{t('incident.total', { n: total(data.newest.page), groups: number(groups.length) })}{data.newest.page.totalItems > data.newest.items.length && ` ${t('incident.newest', { n: number(data.newest.items.length) })}`}</p>}
    {data && !groups.length && <div class="empty"><p>{t('empty.incidents')}</p></div>}
    <ol class="groups" aria-label={t('nav.incidents')}>{groups.map((group) => <GroupCard key={group.id} group={group} />)}</ol>
  </>;
}
