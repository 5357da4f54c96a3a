// What one can do with a whole instance: cancel it, set variables, retry its incidents.
import { useSignal } from '@preact/signals';
import { argument } from '../lib/commands.ts';
import { curesOf } from '../lib/cures.ts';
import { t } from '../lib/i18n.ts';
import { variablesOf } from '../lib/json.ts';
import { ActionDialog } from '../parts/action.tsx';
import type { Now } from './instance.tsx';

type Props = { now: Now; onClose: () => void };

function Cancel({ now, onClose }: Props) {
  const key = now.instance.processInstanceKey;
  return <ActionDialog title={t('instance.cancel')} button={t('instance.cancel')} danger onClose={onClose} commands={[{ method: 'POST', path: `/v2/process-instances/${key}/cancellation`, cli: `cancel ${key}` }]}>
    <p>{t('instance.cancelNote')}</p>
  </ActionDialog>;
}

/** Set variables in a scope: the instance's, or an element's. */
export function SetVariables({ scope, initial = '{}', local = false, onClose }: { scope: string; initial?: string; local?: boolean; onClose: () => void }) {
  const text = useSignal(initial), found = variablesOf(text.value);
  const commands = [{ method: 'PUT' as const, path: `/v2/element-instances/${scope}/variables`, body: { variables: found.value ?? {}, ...(local && { local }) } }];
  return <ActionDialog title={t('variables.set')} button={t('variables.set')} commands={commands} invalid={found.problem} onClose={onClose}>
    <label class="area">{t('variables.json')}<textarea class="json" rows={8} spellcheck={false} value={text.value} onInput={(event) => { text.value = event.currentTarget.value; }} /></label>
  </ActionDialog>;
}

/** Retry the incidents of an instance, with mended variables if need be. */
export function Retry({ now, incidents, onClose }: Props & { incidents: Now['incidents'] }) {
  const text = useSignal(''), found = variablesOf(text.value);
  const commands = incidents.flatMap((incident) => curesOf(incident, found.value));
  return <ActionDialog title={t('incident.retry')} button={t('incident.retry')} commands={commands} invalid={found.problem} onClose={onClose}>
    <ul class="messages">{incidents.map((incident) => <li key={incident.incidentKey}><b>{incident.elementId}</b> {incident.errorMessage}</li>)}</ul>
    <label class="area">{t('incident.mend')}<textarea class="json" rows={5} spellcheck={false} placeholder={argument(JSON.stringify({ [now.variables[0]?.name ?? 'name']: '…' })).slice(1, -1)} value={text.value} onInput={(event) => { text.value = event.currentTarget.value; }} /></label>
  </ActionDialog>;
}

export function InstanceActions({ now }: { now: Now }) {
  const open = useSignal<'cancel' | 'variables' | 'retry' | null>(null), close = () => { open.value = null; };
  if (now.instance.state !== 'ACTIVE') return null;
  return <>
    <button type="button" onClick={() => { open.value = 'variables'; }}>{t('variables.set')} …</button>
    <button type="button" onClick={() => { open.value = 'cancel'; }}>{t('instance.cancel')} …</button>
    {now.incidents.length > 0 && <button type="button" class="primary" onClick={() => { open.value = 'retry'; }}>{t('incident.retry')} …</button>}
    {open.value === 'cancel' && <Cancel now={now} onClose={close} />}
    {open.value === 'variables' && <SetVariables scope={now.instance.processInstanceKey} onClose={close} />}
    {open.value === 'retry' && <Retry now={now} incidents={now.incidents} onClose={close} />}
  </>;
}
