// Incidents, grouped by cause: one cure for each group.
import { useSignal } from '@preact/signals';
import { search, searchAll } from '../lib/api.ts';
import { grouped, type Group } from '../lib/groups.ts';
import { number, t, total } from '../lib/i18n.ts';
import { useResource } from '../lib/resource.ts';
import { href } from '../lib/router.ts';
import type { Incident, Page } from '../lib/shapes.ts';
import { curesOf } from '../lib/cures.ts';
import { processUrl } from '../lib/urls.ts';
import { UPDATE_INSTANCE } from '../lib/session.ts';
import { Act } from '../parts/act.tsx';
import { ActionDialog } from '../parts/action.tsx';
import { ProblemBox } from '../parts/problem.tsx';
import { Head } from '../parts/head.tsx';
import { Time } from '../parts/time.tsx';

const MOST = 1000, SHOWN = 8;
type Found = { incidents: Incident[]; page: Page<Incident>['page'] };

async function load(abort: AbortSignal): Promise<Found> {
  const body = { filter: { state: 'ACTIVE' }, sort: [{ field: 'creationTime', order: 'DESC' as const }] };
  const { page } = await search<Incident>('incidents', { ...body, page: { limit: 1 } }, abort);
  return { incidents: await searchAll<Incident>('incidents', body, MOST, abort), page };
}

/** The kind of an incident in words. */
export function kindOf(errorType: string): string {
  if (errorType.endsWith('NO_RETRIES')) return t('error.noRetries');
  const words = errorType.toLowerCase().replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function GroupCard({ group }: { group: Group }) {
  const { sample, incidents } = group, curing = useSignal(false);
  return <li class="group">
    <div class="about">
      <p class="kind"><b>{kindOf(sample.errorType)}</b> · <a href={processUrl(sample.processDefinitionId, { element: sample.elementId })}>{sample.processDefinitionId} / {sample.elementId}</a> · <span class="dim"><Time at={group.newest} /></span></p>
      <p class="message">{sample.errorMessage}</p>
      <ul class="keys">{incidents.slice(0, SHOWN).map((incident) => <li key={incident.incidentKey}><a data-row href={href(`/instances/${incident.processInstanceKey}`, { element: incident.elementId })}><code>{incident.processInstanceKey}</code></a></li>)}
        {incidents.length > SHOWN && <li><a href={href('/instances', { process: sample.processDefinitionId, state: 'incidents' })}>{t('andMore', { n: number(incidents.length - SHOWN) })}</a></li>}</ul>
    </div>
    <div class="cure"><p class="big">{number(incidents.length)}</p><Act need={UPDATE_INSTANCE} of={sample.processDefinitionId} onClick={() => { curing.value = true; }}>{incidents.length === 1 ? t('incident.retry') : t('incident.retryAll', { n: number(incidents.length) })}</Act></div>
    {curing.value && <ActionDialog title={t('incident.retryAll', { n: number(incidents.length) })} button={t('incident.retry')} commands={incidents.flatMap((incident) => curesOf(incident))} onClose={() => { curing.value = false; }}><p>{t('incident.retryNote')}</p></ActionDialog>}
  </li>;
}

export function Incidents() {
  const found = useResource('incidents', load, ['incidents']), data = found.data.value;
  const groups = data ? grouped(data.incidents) : [];
  return <>
    <Head title={t('nav.incidents')} />
    {found.problem.value && <ProblemBox problem={found.problem.value} retry={found.reload} />}
    {!data && !found.problem.value && <p class="dim loading">{t('loading')}</p>}
    {data && <p class="total" role="status">{t('incident.total', { n: total(data.page), groups: number(groups.length) })}{data.page.totalItems > data.incidents.length && ` ${t('incident.newest', { n: number(data.incidents.length) })}`}</p>}
    {data && !groups.length && <div class="empty"><p>{t('empty.incidents')}</p></div>}
    <ol class="groups" aria-label={t('nav.incidents')}>{groups.map((group) => <GroupCard key={group.id} group={group} />)}</ol>
  </>;
}
