// Alert rules: conditions on figures, and the URLs that hear of them.
import { useSignal } from '@preact/signals';
import { argument, type Command, perform } from '../lib/commands.ts';
import { type Key, number, t } from '../lib/i18n.ts';
import type { Need } from '../lib/session.ts';
import { duration, when } from '../lib/time.ts';
import { Act } from '../parts/act.tsx';
import { ActionDialog, Asking } from '../parts/action.tsx';
import { Field } from '../parts/field.tsx';
import { Head } from '../parts/head.tsx';
import { Opening } from '../parts/opening.tsx';
import { SearchPage } from '../parts/search.tsx';
import type { Column } from '../parts/table.tsx';

const METRICS = ['RUNNING', 'INCIDENTS', 'NEW_INCIDENTS', 'OPEN_TASKS', 'OLDEST_SECONDS'] as const;
const INTERVALS = { PT1M: 60_000, PT5M: 300_000, PT15M: 900_000, PT1H: 3_600_000, P1D: 86_400_000 };
const HOUR_MS = 3_600_000;
const NEED: Need = ['RESOURCE', 'CREATE'];

type Rule = {
  alertRuleKey: string;
  name: string;
  processDefinitionId: string | null;
  metric: (typeof METRICS)[number];
  threshold: number;
  clearsAt: number;
  url: string | null;
  toOutbox: boolean;
  isRaised: boolean;
  since: string;
  value: number | null;
  error: string | null;
  mutedUntil: string | null;
  deliveryKind: string | null;
  deliveryState: string | null;
  deliveryError: string | null;
};

const pathOf = ({ alertRuleKey }: Rule): string => `/v2/alert-rules/${alertRuleKey}`;
const metricOf = (metric: (typeof METRICS)[number]): string => t(`alert.metric.${metric}` as Key);

function CreateDialog({ onClose }: { onClose: () => void }) {
  const name = useSignal('');
  const process = useSignal('');
  const metric = useSignal<string>('INCIDENTS');
  const above = useSignal('10');
  const clears = useSignal('');
  const interval = useSignal('PT5M');
  const url = useSignal('');
  const toOutbox = useSignal(false);
  const secret = useSignal('');
  const tenant = useSignal('');
  const isNumber = (text: string) => /^\d+$/.test(text);
  const given = {
    ...(process.value && { processDefinitionId: process.value }),
    ...(clears.value && { clearsAt: Number(clears.value) }),
    ...(url.value && { url: url.value }),
    ...(toOutbox.value && { toOutbox: true }),
    ...(secret.value && { secret: secret.value }),
    ...(tenant.value && { tenantId: tenant.value }),
  };
  const options = [
    url.value && ` ${argument(url.value)}`,
    toOutbox.value && ' --outbox',
    process.value && ` --process ${argument(process.value)}`,
    clears.value && ` --clears-at ${argument(clears.value)}`,
    ` --interval ${interval.value}`,
    secret.value && ` --secret ${argument(secret.value)}`,
    tenant.value && ` --tenant ${argument(tenant.value)}`,
  ].join('');
  const command: Command = {
    method: 'POST',
    path: '/v2/alert-rules',
    body: {
      name: name.value,
      metric: metric.value,
      threshold: Number(above.value),
      interval: interval.value,
      ...given,
    },
    cli: `alerts set ${argument(name.value)} ${metric.value} ${argument(above.value)}${options}`,
  };
  const isComplete =
    name.value.trim() &&
    (url.value || toOutbox.value) &&
    isNumber(above.value) &&
    (!clears.value || isNumber(clears.value));
  return (
    <ActionDialog
      title={t('alert.create')}
      button={t('create')}
      onClose={onClose}
      invalid={isComplete ? null : t('alert.missing')}
      commands={[command]}
    >
      <Field label={t('alert.name')} value={name} autofocus maxLength={100} />
      <Field label={t('alert.process')} value={process} />
      <label class="field">
        {t('alert.metric')}
        <select
          value={metric.value}
          onChange={(event) => {
            metric.value = event.currentTarget.value;
          }}
        >
          {METRICS.map((one) => (
            <option key={one} value={one}>
              {metricOf(one)}
            </option>
          ))}
        </select>
      </label>
      <Field label={t('alert.above')} value={above} inputMode="numeric" />
      <Field label={t('alert.clears')} value={clears} inputMode="numeric" />
      <label class="field">
        {t('alert.interval')}
        <select
          value={interval.value}
          onChange={(event) => {
            interval.value = event.currentTarget.value;
          }}
        >
          {Object.entries(INTERVALS).map(([one, ms]) => (
            <option key={one} value={one}>
              {duration(ms)}
            </option>
          ))}
        </select>
      </label>
      <Field label={t('alert.url')} value={url} type="url" placeholder="https://chat.example.org/hook" />
      <label class="check">
        <input
          type="checkbox"
          checked={toOutbox.value}
          onChange={(event) => {
            toOutbox.value = event.currentTarget.checked;
          }}
        />{' '}
        {t('alert.toOutbox')}
      </label>
      <Field label={t('alert.secret')} value={secret} />
      <Field label={t('tenant')} value={tenant} />
    </ActionDialog>
  );
}

function State({ of }: { of: Rule }) {
  const isMuted = of.mutedUntil !== null && Date.parse(of.mutedUntil) > Date.now();
  return (
    <>
      {of.isRaised ? <b class="bad">{t('alert.raised')}</b> : t('alert.ok')}
      {of.error && <p class="invalid">{of.error}</p>}
      {isMuted && <p class="dim">{t('alert.muted', { time: when(of.mutedUntil!) })}</p>}
    </>
  );
}

function Actions({ of }: { of: Rule }) {
  const isMuted = of.mutedUntil !== null;
  const send = (title: Key, command: Command) => void perform(t(title), command);
  const mute = () => {
    const mutedUntil = isMuted ? null : new Date(Date.now() + HOUR_MS).toISOString();
    const cli = mutedUntil
      ? `alerts mute ${of.alertRuleKey} --until ${mutedUntil}`
      : `alerts unmute ${of.alertRuleKey}`;
    send(isMuted ? 'alert.unmute' : 'alert.mute', {
      method: 'PATCH',
      path: pathOf(of),
      body: { mutedUntil },
      cli,
    });
  };
  const test = () =>
    send('alert.test', { method: 'POST', path: `${pathOf(of)}/test`, cli: `alerts test ${of.alertRuleKey}` });
  return (
    <>
      <Act need={NEED} onClick={test}>
        {t('alert.test')}
      </Act>
      <Act need={NEED} onClick={mute}>
        {t(isMuted ? 'alert.unmute' : 'alert.mute')}
      </Act>
      <Asking
        need={NEED}
        title={t('delete')}
        note={t('alert.deleteNote', { name: of.name })}
        command={{ method: 'DELETE', path: pathOf(of), cli: `alerts delete ${of.alertRuleKey}` }}
      />
    </>
  );
}

const columns = (): Column<Rule>[] => [
  { title: t('alert.name'), sort: 'name', wide: true, cell: (one) => <b>{one.name}</b> },
  {
    title: t('alert.metric'),
    wide: true,
    cell: (one) => (
      <>
        {metricOf(one.metric)}
        <small class="dim"> {one.processDefinitionId ?? ''}</small>
      </>
    ),
  },
  { title: t('alert.above'), cell: (one) => number(one.threshold) },
  { title: t('alert.value'), cell: (one) => (one.value === null ? '–' : number(one.value)) },
  { title: t('state'), sort: 'isRaised', cell: (one) => <State of={one} /> },
  {
    title: t('alert.notice'),
    wide: true,
    cell: (one) =>
      [one.toOutbox && t('alert.outbox'), one.deliveryKind, one.deliveryState, one.deliveryError]
        .filter(Boolean)
        .join(' ') || '–',
  },
  { id: 'actions', title: t('alert.actions'), cell: (one) => <Actions of={one} /> },
];

export function AlertRules() {
  const create = (
    <Opening need={NEED} class="primary" text={t('alert.create')}>
      {(close) => <CreateDialog onClose={close} />}
    </Opening>
  );
  return (
    <>
      <Head title={t('alert.title')} actions={create} />
      <SearchPage<Rule>
        resource="alert-rules"
        label={t('alert.title')}
        count="count.rules"
        columns={columns()}
        id={(one) => one.alertRuleKey}
        sort="name"
        topics={['@alert-rules', 'instances', 'incidents']}
        empty={t('alert.empty')}
        offer={create}
        states={[
          ['', t('alert.all')],
          ['raised', t('alert.raised')],
        ]}
        fields={[['q', t('alert.name')]]}
        filter={(state, { q }) => ({
          ...(state && { isRaised: true }),
          ...(q && { name: { $like: `*${q}*` } }),
        })}
      />
    </>
  );
}
