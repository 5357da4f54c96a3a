// Things to send: a message, a signal, or values that start processes by their conditions.

import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { argument, type Command, notify, variablesOption } from '../lib/commands.ts';
import { number, t } from '../lib/i18n.ts';
import { variablesOf } from '../lib/json.ts';
import { go, href } from '../lib/router.ts';
import { CREATE_INSTANCE, SEND_MESSAGE, UPDATE_INSTANCE } from '../lib/session.ts';
import { ActionDialog } from '../parts/action.tsx';
import { Field } from '../parts/field.tsx';
import { JsonArea } from '../parts/json_area.tsx';
import { Opening } from '../parts/opening.tsx';
import { firstTenant, TenantChoice, tenantOf } from '../parts/tenant.tsx';

type SendProps = {
  title: string;
  isReady?: boolean;
  commandOf: (variables: Record<string, unknown>, tenantId: string) => Command;
  onDone?: (answer: unknown) => void;
  onClose: () => void;
  children?: ComponentChildren;
};

/** A dialog with variables and, where there is a choice, the tenant. */
function Send({ title, isReady = true, commandOf, onDone, onClose, children }: SendProps) {
  const text = useSignal('');
  const tenant = useSignal(firstTenant());
  const found = variablesOf(text.value);
  return (
    <ActionDialog
      title={title}
      button={title}
      onClose={onClose}
      {...(onDone && { onDone })}
      invalid={isReady ? found.problem : t('form.missing')}
      commands={[commandOf(found.value ?? {}, tenant.value)]}
    >
      {children}
      <TenantChoice
        value={tenant.value}
        onChange={(tenantId) => {
          tenant.value = tenantId;
        }}
      />
      <JsonArea label={t('variables.json')} text={text} rows={4} />
    </ActionDialog>
  );
}

type PublishProps = { name?: string; correlationKey?: string; onClose: () => void };

export function Publish({ name = '', correlationKey = '', onClose }: PublishProps) {
  const form = useSignal({ name, correlationKey, minutes: 60 });
  const { minutes, ...given } = form.value;
  const set = (change: Partial<typeof form.value>) => {
    form.value = { ...form.value, ...change };
  };
  return (
    <Send
      title={t('message.publish')}
      isReady={given.name !== ''}
      onClose={onClose}
      commandOf={(variables, tenantId) => ({
        method: 'POST',
        path: '/v2/messages/publication',
        body: { ...given, timeToLive: minutes * 60_000, variables, ...tenantOf(tenantId) },
        cli: `message publish ${argument(given.name)}${given.correlationKey && ` --correlation-key ${argument(given.correlationKey)}`} --ttl ${minutes * 60}${variablesOption(variables)}${tenantOf(tenantId).tenantId ? ` --tenant ${argument(tenantId)}` : ''}`,
      })}
    >
      <label class="field">
        {t('message.name')}
        <input value={given.name} onInput={(event) => set({ name: event.currentTarget.value })} />
      </label>
      <label class="field">
        {t('message.key')}
        <input value={given.correlationKey} onInput={(event) => set({ correlationKey: event.currentTarget.value })} />
      </label>
      <label class="field">
        {t('message.minutes')}
        <input
          type="number"
          min={0}
          value={minutes}
          onInput={(event) => set({ minutes: event.currentTarget.valueAsNumber || 0 })}
        />
      </label>
    </Send>
  );
}

function Broadcast({ onClose }: { onClose: () => void }) {
  const name = useSignal('');
  return (
    <Send
      title={t('signal.broadcast')}
      isReady={name.value !== ''}
      onClose={onClose}
      commandOf={(variables, tenantId) => ({
        method: 'POST',
        path: '/v2/signals/broadcast',
        body: { signalName: name.value, variables, ...tenantOf(tenantId) },
        cli: `signal ${argument(name.value)}${variablesOption(variables)}${tenantOf(tenantId).tenantId ? ` --tenant ${argument(tenantId)}` : ''}`,
      })}
    >
      <p class="dim">{t('signal.note')}</p>
      <Field label={t('message.name')} value={name} autofocus />
    </Send>
  );
}

type Evaluated = { processInstances: { processInstanceKey: string }[] };

/** Go to the instance that was started; of several, tell how many there are. */
function started(answer: unknown): void {
  const { processInstances } = answer as Evaluated;
  if (processInstances.length === 1) go(href(`/instances/${processInstances[0]!.processInstanceKey}`));
  else
    notify({
      label: t('condition.started', { n: number(processInstances.length) }),
      commands: [],
      position: null,
      ms: 0,
      problem: null,
    });
}

function Evaluate({ onClose }: { onClose: () => void }) {
  return (
    <Send
      title={t('condition.evaluate')}
      onClose={onClose}
      onDone={started}
      commandOf={(variables, tenantId) => ({
        method: 'POST',
        path: '/v2/conditionals/evaluation',
        body: { variables, ...tenantOf(tenantId) },
      })}
    >
      <p class="dim">{t('condition.note')}</p>
    </Send>
  );
}

export function PublishButton({ name, correlationKey }: { name?: string; correlationKey?: string }) {
  const given = { ...(name && { name }), ...(correlationKey && { correlationKey }) };
  return (
    <Opening need={SEND_MESSAGE} of={name} class={name ? '' : 'primary'} text={t('message.publish')}>
      {(close) => <Publish {...given} onClose={close} />}
    </Opening>
  );
}

export const BroadcastButton = () => (
  <Opening need={UPDATE_INSTANCE} text={t('signal.broadcast')}>
    {(close) => <Broadcast onClose={close} />}
  </Opening>
);
export const EvaluateButton = () => (
  <Opening need={CREATE_INSTANCE} text={t('condition.evaluate')}>
    {(close) => <Evaluate onClose={close} />}
  </Opening>
);
