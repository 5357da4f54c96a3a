// Suspension: an instance stays where it is, with a reason for people, until somebody resumes it.

import { useSignal } from '@preact/signals';
import { argument, type Command } from '../lib/commands.ts';
import { t } from '../lib/i18n.ts';
import { SUSPEND_INSTANCE } from '../lib/session.ts';
import type { Instance } from '../lib/shapes.ts';
import { ActionDialog } from '../parts/action.tsx';
import { Check } from '../parts/check.tsx';
import { Field } from '../parts/field.tsx';
import { Opening } from '../parts/opening.tsx';
import { Time } from '../parts/time.tsx';
import { Trial } from './operations/trial.tsx';

const REASON_CHARACTERS = 1000;
type What = 'suspend' | 'resume';

function commandOf(what: What, key: string, includeCalled: boolean, reason = ''): Command {
  const options = `${reason && ` --reason ${argument(reason)}`}${includeCalled ? ' --include-called' : ''}`;
  return {
    method: 'POST',
    path: `/v2/process-instances/${key}/${what === 'suspend' ? 'suspension' : 'resumption'}`,
    body: { includeCalled, ...(reason && { reason }) },
    cli: `${what} ${key}${options}`,
  };
}

type DialogProps = { what: What; instance: Instance; name: (id: string) => string; onClose: () => void };

function Suspension({ what, instance: { processInstanceKey: key }, name, onClose }: DialogProps) {
  const reason = useSignal('');
  const called = useSignal(false);
  return (
    <ActionDialog
      title={t(`instance.${what}`)}
      button={t(`instance.${what}`)}
      onClose={onClose}
      commands={[commandOf(what, key, called.value, reason.value.trim())]}
    >
      <p>{t(`instance.${what}Note`)}</p>
      {what === 'suspend' && <Field label={t('instance.reason')} value={reason} maxLength={REASON_CHARACTERS} />}
      <Check value={called}>{t(`instance.${what}Called`)}</Check>
      <Trial command={commandOf(what, key, called.value)} name={name} />
    </ActionDialog>
  );
}

/** Suspend a running instance, or resume a suspended one. */
export function SuspensionButton({ instance, name }: Pick<DialogProps, 'instance' | 'name'>) {
  const what = instance.state === 'SUSPENDED' ? 'resume' : 'suspend';
  return (
    <Opening
      key={instance.state}
      need={SUSPEND_INSTANCE}
      of={instance.processDefinitionId}
      class={what === 'resume' ? 'primary' : ''}
      text={t(`instance.${what}`)}
    >
      {(close) => <Suspension what={what} instance={instance} name={name} onClose={close} />}
    </Opening>
  );
}

/** Since when an instance is suspended, and what that means. */
export function SuspendedCard({ instance }: { instance: Instance }) {
  if (instance.state !== 'SUSPENDED') return null;
  return (
    <div class="suspended">
      <p>
        <b>{t('state.suspended')}</b> <Time at={instance.suspendedDate} />
      </p>
      {instance.suspensionReason && <p class="message">{instance.suspensionReason}</p>}
      <p>{t('instance.suspendedNote')}</p>
    </div>
  );
}
