// The incidents of an instance, each with its cure.
import { kindOf } from '../lib/groups.ts';
import { t } from '../lib/i18n.ts';
import type { Now } from '../lib/instance.ts';
import { useGrowing } from '../lib/pages.ts';
import { href } from '../lib/router.ts';
import { UPDATE_INSTANCE } from '../lib/session.ts';
import type { Incident } from '../lib/shapes.ts';
import { ErrorText } from '../parts/error_text.tsx';
import { Opening } from '../parts/opening.tsx';
import { Rest } from '../parts/rest.tsx';
import { Time } from '../parts/time.tsx';
import { Retry } from './instance_actions.tsx';

const FEW = 20;
const OLDEST = [{ field: 'creationTime', order: 'ASC' as const }];

function IncidentCard({ now, incident }: { now: Now; incident: Incident }) {
  const elsewhere = incident.processInstanceKey !== now.instance.processInstanceKey;
  const held = !elsewhere && now.instance.state === 'SUSPENDED';
  return (
    <div class="incident">
      <p>
        <b>{kindOf(incident.errorType)}</b>{' '}
        <span class="dim">
          <Time at={incident.creationTime} />
        </span>
      </p>
      <ErrorText of={incident.errorMessage} />
      {elsewhere && (
        <p>
          <a href={href(`/instances/${incident.processInstanceKey}`, { element: incident.elementId })}>
            {t('incident.inCalled', { id: incident.elementId })}
          </a>
        </p>
      )}
      {held && <p class="dim">{t('incident.resumeFirst')}</p>}
      {!held && (
        <div class="row">
          <Opening need={UPDATE_INSTANCE} of={incident.processDefinitionId} text={t('incident.retry')}>
            {(close) => <Retry now={now} incidents={[incident]} onClose={close} />}
          </Opening>
        </div>
      )}
    </div>
  );
}

/** The incidents of an instance, or of one of its elements. The page has the first of the instance; others are asked for. */
export function Incidents({
  now,
  selected,
  scopes,
}: {
  now: Now;
  selected: string | null;
  scopes: ReadonlySet<string>;
}) {
  const key = now.instance.processInstanceKey;
  const isCut = now.incidentPage.totalItems > now.incidents.length;
  const filter = { state: 'ACTIVE', ...(selected && { elementId: selected }) };
  const asked = isCut ? filter : null;
  const found = useGrowing<Incident>(`process-instances/${key}/incidents`, asked, OLDEST, FEW, [`instance:${key}`]);
  const page = found.data.value;
  const known = now.incidents.filter(
    (incident) => !selected || incident.elementId === selected || scopes.has(incident.elementInstanceKey),
  );
  const shown = isCut ? (page?.items ?? known.slice(0, FEW)) : known;
  return (
    <>
      {shown.map((incident) => (
        <IncidentCard key={incident.incidentKey} now={now} incident={incident} />
      ))}
      {isCut && <Rest count="count.incidents" page={page} steps={found} />}
    </>
  );
}
