// Incidents, grouped by cause: one cure for each group.
import { search } from '../lib/api.ts';
import { allOf } from '../lib/batches.ts';
import { causesOf } from '../lib/counts.ts';
import { curesOf } from '../lib/cures.ts';
import { type Group, grouped, incidentsAt, kindOf, placeFilter } from '../lib/groups.ts';
import { counted, number, t } from '../lib/i18n.ts';
import { useResource } from '../lib/resource.ts';
import { href } from '../lib/router.ts';
import { me, UPDATE_INSTANCE } from '../lib/session.ts';
import type { CauseCount, Incident, Page } from '../lib/shapes.ts';
import { instancesUrl, processUrl } from '../lib/urls.ts';
import { ActionDialog } from '../parts/action.tsx';
import { ErrorText } from '../parts/error_text.tsx';
import { Head } from '../parts/head.tsx';
import { Held } from '../parts/held.tsx';
import { Opening } from '../parts/opening.tsx';
import { ProblemBox } from '../parts/problem.tsx';
import { Time } from '../parts/time.tsx';
import { Batch, BatchButton } from './batch.tsx';

const PLACES = 1000;
const NEWEST = 200;
const SHOWN = 8;
const AT_ONCE = 20;
type Found = { causes: CauseCount[]; newest: Page<Incident> };

async function load(abort: AbortSignal): Promise<Found> {
  const body = {
    filter: { state: 'ACTIVE' },
    sort: [{ field: 'creationTime', order: 'DESC' as const }],
    page: { limit: NEWEST },
  };
  const [causes, newest] = await Promise.all([causesOf(PLACES, abort), search<Incident>('incidents', body, abort)]);
  return { causes, newest };
}

const retry = (n: number): string => allOf('retryIncidents', number(n));

/** The cure of all incidents at a place: one after another if they are few and all are known, else as a batch operation. */
function Cure({ place, known, onClose }: { place: CauseCount; known: Incident[]; onClose: () => void }) {
  const n = place.activeIncidentsCount;
  if (n > AT_ONCE || known.length < n)
    return <Batch what="retryIncidents" filter={placeFilter(place)} total={number(n)} onClose={onClose} />;
  return (
    <ActionDialog
      title={retry(n)}
      button={retry(n)}
      commands={known.flatMap((incident) => curesOf(incident))}
      onClose={onClose}
    >
      <p>{t('incident.retryNote')}</p>
    </ActionDialog>
  );
}

/** The incidents of a cause at one element: which instances, and their cure. */
function PlaceRow({ place, newest }: { place: CauseCount; newest: Incident[] }) {
  const known = incidentsAt(place, newest);
  const more = place.activeIncidentsCount - Math.min(known.length, SHOWN);
  return (
    <div class="place">
      <div>
        <p class="kind">
          <b>{kindOf(place.errorType)}</b> ·{' '}
          <a href={processUrl(place.processDefinitionId, place.tenantId, { element: place.elementId })}>
            {place.processDefinitionId} / {place.elementId}
          </a>{' '}
          {(me.value?.tenants.length ?? 0) > 1 && <span class="dim">· {place.tenantId}</span>} ·{' '}
          <span class="dim">
            <Time at={place.creationTime} />
          </span>
        </p>
        <ul class="keys">
          {known.slice(0, SHOWN).map((incident) => (
            <li key={incident.incidentKey}>
              <a data-row href={href(`/instances/${incident.processInstanceKey}`, { element: incident.elementId })}>
                <code>{incident.processInstanceKey}</code>
              </a>{' '}
              <Held of={incident.processInstanceKey} />
            </li>
          ))}
          {more > 0 && (
            <li>
              <a
                href={instancesUrl(place.processDefinitionId, place.tenantId, {
                  cause: place.causeHashCode,
                  element: place.elementId,
                })}
              >
                {t('andMore', { n: number(more) })}
              </a>
            </li>
          )}
        </ul>
      </div>
      <Opening need={UPDATE_INSTANCE} of={place.processDefinitionId} text={retry(place.activeIncidentsCount)}>
        {(close) => <Cure place={place} known={known} onClose={close} />}
      </Opening>
    </div>
  );
}

function GroupCard({ group, newest }: { group: Group; newest: Incident[] }) {
  return (
    <li class="group">
      <div class="cause">
        <ErrorText of={group.message} />
        {group.places.map((place) => (
          <PlaceRow
            key={`${place.tenantId} ${place.processDefinitionId} ${place.elementId} ${place.errorType}`}
            place={place}
            newest={newest}
          />
        ))}
      </div>
      <div class="cure">
        <a
          class="big"
          href={href('/instances', { cause: group.cause })}
          aria-label={`${t('nav.instances')}: ${number(group.total)}`}
        >
          {number(group.total)}
        </a>
      </div>
    </li>
  );
}

const whole = (totalItems: number) => ({ totalItems, hasMoreTotalItems: false });

export function Incidents() {
  const found = useResource('incidents', load, ['incidents']);
  const data = found.data.value;
  const groups = data ? grouped(data.causes) : [];
  const all = groups.reduce((sum, group) => sum + group.total, 0);
  return (
    <>
      <Head
        title={t('nav.incidents')}
        actions={all > 0 && <BatchButton what="retryIncidents" filter={{ state: 'ACTIVE' }} total={number(all)} />}
      />
      {found.problem.value && <ProblemBox problem={found.problem.value} retry={found.reload} />}
      {!data && !found.problem.value && <p class="dim loading">{t('loading')}</p>}
      {data && (
        <p class="total" role="status">
          {counted('count.incidents', whole(all))} · {counted('count.causes', whole(groups.length))}
          {data.causes.length === PLACES && ` ${t('access.more')}`}
        </p>
      )}
      {data && !groups.length && (
        <div class="empty">
          <p>{t('empty.incidents')}</p>
        </div>
      )}
      <ol class="groups" aria-label={t('nav.incidents')}>
        {groups.map((group) => (
          <GroupCard key={group.cause} group={group} newest={data!.newest.items} />
        ))}
      </ol>
    </>
  );
}
