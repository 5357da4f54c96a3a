// The actions on a whole instance: cancel it, suspend it, set variables, retry its incidents.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { argument } from '../lib/commands.ts';
import { curesOf } from '../lib/cures.ts';
import { t } from '../lib/i18n.ts';
import type { Now } from '../lib/instance.ts';
import { variablesOf } from '../lib/json.ts';
import { go, href, put, query } from '../lib/router.ts';
import { CANCEL_INSTANCE, DELETE_INSTANCE, MODIFY_INSTANCE, UPDATE_INSTANCE } from '../lib/session.ts';
import type { Instance } from '../lib/shapes.ts';
import { Act } from '../parts/act.tsx';
import { ActionDialog, Asking } from '../parts/action.tsx';
import { JsonArea } from '../parts/json_area.tsx';
import { Opened } from '../parts/lazy.tsx';
import { More } from '../parts/more.tsx';
import { Opening } from '../parts/opening.tsx';
import { BatchButton } from './batch.tsx';
import { SuspensionButton } from './suspension.tsx';
import { UndoButton } from './undo.tsx';

const setter = async () => (await import('./set_variables.tsx')).SetVariables;

type Props = { now: Now; onClose: () => void };

/** An ended instance goes with the instances that it called. One that was called goes with its caller only. */
function DeleteButton({ instance }: { instance: Instance }) {
  const key = instance.processInstanceKey;
  return (
    <Asking
      need={DELETE_INSTANCE}
      of={instance.processDefinitionId}
      title={t('instance.delete')}
      note={t('instance.deleteNote')}
      command={{ method: 'POST', path: `/v2/process-instances/${key}/deletion`, cli: `delete ${key}` }}
      done={() => go(href('/instances', { state: 'all' }))}
    />
  );
}

/** Retry the incidents of an instance, with mended variables if need be. */
export function Retry({ now, incidents, onClose }: Props & { incidents: Now['incidents'] }) {
  const text = useSignal('');
  const found = variablesOf(text.value);
  const commands = incidents.flatMap((incident) => curesOf(incident, found.value));
  return (
    <ActionDialog
      title={t('incident.retry')}
      button={t('incident.retry')}
      commands={commands}
      invalid={found.problem}
      onClose={onClose}
    >
      <ul class="messages">
        {incidents.map((incident) => (
          <li key={incident.incidentKey}>
            <b>{incident.elementId}</b> {incident.errorMessage}
          </li>
        ))}
      </ul>
      <JsonArea
        label={t('incident.mend')}
        text={text}
        rows={5}
        placeholder={argument(JSON.stringify({ [now.variables[0]?.name ?? 'name']: '…' })).slice(1, -1)}
      />
    </ActionDialog>
  );
}

/** `undoable`: whether the latest command may be one that can be undone. `heat`: the button of the heat map. */
type ActionsProps = { now: Now; undoable: boolean; name: (id: string) => string; heat: ComponentChildren };

export function InstanceActions({ now, undoable, name, heat }: ActionsProps) {
  const { instance } = now;
  const { processDefinitionId: process, processInstanceKey: key } = instance;
  if (instance.endDate)
    return (
      <>
        {heat}
        {!instance.parentProcessInstanceKey && <DeleteButton instance={instance} />}
      </>
    );
  const suspended = instance.state === 'SUSPENDED';
  return (
    <>
      {undoable && <UndoButton instance={instance} />}
      <Opening need={UPDATE_INSTANCE} of={process} text={t('variables.set')}>
        {(close) => <Opened load={setter} props={{ instance, scope: key, onClose: close }} />}
      </Opening>
      <Asking
        need={CANCEL_INSTANCE}
        of={process}
        title={t('instance.cancel')}
        note={t('instance.cancelNote')}
        command={{ method: 'POST', path: `/v2/process-instances/${key}/cancellation`, cli: `cancel ${key}` }}
      />
      <SuspensionButton instance={instance} name={name} />
      {now.incidentPage.totalItems > now.incidents.length && !suspended && (
        <BatchButton what="retry" filter={{ processInstanceKey: key }} total="1" />
      )}
      {now.incidents.length > 0 && now.incidentPage.totalItems <= now.incidents.length && !suspended && (
        <Opening need={UPDATE_INSTANCE} of={process} class="primary" text={t('incident.retry')}>
          {(close) => <Retry now={now} incidents={now.incidents} onClose={close} />}
        </Opening>
      )}
      {suspended ? (
        heat
      ) : (
        <More>
          {heat}
          <Act
            need={MODIFY_INSTANCE}
            of={process}
            pressed={query.value.get('modify') !== null}
            onClick={() => put({ modify: query.value.get('modify') === null ? 1 : null })}
          >
            {t('modify.title')}
          </Act>
          <a class="button" href={href('/migrate', { source: instance.processDefinitionKey, instance: key })}>
            {t('migrate.do')} …
          </a>
        </More>
      )}
    </>
  );
}
