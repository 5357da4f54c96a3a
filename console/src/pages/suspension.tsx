// Suspension: an instance stays where it is, with a reason for people, until somebody resumes it.
import { useSignal } from '@preact/signals';
import { argument, type Command } from '../lib/commands.ts';
import { t } from '../lib/i18n.ts';
import { SUSPEND_INSTANCE } from '../lib/session.ts';
import type { Instance } from '../lib/shapes.ts';
import { ActionDialog } from '../parts/action.tsx';
import { Check } from '../parts/check.tsx';
import { Opening } from '../parts/opening.tsx';
import { Time } from '../parts/time.tsx';

const REASON_CHARACTERS = 1000;
type DialogProps = { instance: Instance; onClose: () => void };

function commandOf(what: 'suspension' | 'resumption', key: string, includeCalled: boolean, reason = ''): Command {
  const options = `${reason && ` --reason ${argument(reason)}`}${includeCalled ? ' --include-called' : ''}`;
  return {
    method: 'POST',
    path: `/v2/process-instances/${key}/${what}`,
    body: { includeCalled, ...(reason && { reason }) },
    cli: `${what === 'suspension' ? 'suspend' : 'resume'} ${key}${options}`,
  };
}

function Suspend({ instance, onClose }: DialogProps) {
  const reason = useSignal('');
  const called = useSignal(false);
  return (
    <ActionDialog
      title={t('instance.suspend')}
      button={t('instance.suspend')}
      onClose={onClose}
      commands={[commandOf('suspension', instance.processInstanceKey, called.value, reason.value.trim())]}
    >
      <p>{t('instance.suspendNote')}</p>
      <label class="area">
        {t('instance.reason')}
        <input
          maxLength={REASON_CHARACTERS}
          value={reason.value}
          onInput={(event) => {
            reason.value = event.currentTarget.value;
          }}
        />
      </label>
      <Check value={called}>{t('instance.includeCalled')}</Check>
    </ActionDialog>
  );
}

function Resume({ instance, onClose }: DialogProps) {
  const called = useSignal(false);
  return (
    <ActionDialog
      title={t('instance.resume')}
      button={t('instance.resume')}
      onClose={onClose}
      commands={[commandOf('resumption', instance.processInstanceKey, called.value)]}
    >
      <p>{t('instance.resumeNote')}</p>
      <Check value={called}>{t('instance.includeCalledResume')}</Check>
    </ActionDialog>
  );
}

/** Suspend a running instance, or resume a suspended one. */
export function SuspensionButton({ instance }: { instance: Instance }) {
  const suspended = instance.state === 'SUSPENDED';
  const Shown = suspended ? Resume : Suspend;
  return (
    <Opening
      key={instance.state}
      need={SUSPEND_INSTANCE}
      of={instance.processDefinitionId}
      class={suspended ? 'primary' : ''}
      text={t(suspended ? 'instance.resume' : 'instance.suspend')}
    >
      {(close) => <Shown instance={instance} onClose={close} />}
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
