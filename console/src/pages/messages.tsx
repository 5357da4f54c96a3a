// Messages: who waits for what, and publishing.
import { useSignal } from '@preact/signals';
import { t } from '../lib/i18n.ts';
import { variablesOf } from '../lib/json.ts';
import { href } from '../lib/router.ts';
import type { Subscription } from '../lib/shapes.ts';
import { ActionDialog } from '../parts/action.tsx';
import { SearchPage } from '../parts/search.tsx';
import { Head } from '../parts/shell.tsx';
import { State } from '../parts/state.tsx';
import type { Column } from '../parts/table.tsx';
import { Copy, Time } from '../parts/time.tsx';

type PublishProps = { name?: string; correlationKey?: string; onClose: () => void };

function Publish({ name = '', correlationKey = '', onClose }: PublishProps) {
  const form = useSignal({ name, correlationKey, minutes: 60, text: '' }), { text, minutes, ...given } = form.value, found = variablesOf(text);
  const set = (change: Partial<typeof form.value>) => { form.value = { ...form.value, ...change }; };
  const body = { ...given, timeToLive: minutes * 60_000, variables: found.value ?? {} };
  return <ActionDialog title={t('message.publish')} button={t('message.publish')} onClose={onClose} invalid={given.name ? found.problem : t('message.name')} commands={[{ method: 'POST', path: '/v2/messages/publication', body }]}>
    <label class="field">{t('message.name')}<input value={given.name} onInput={(event) => set({ name: event.currentTarget.value })} /></label>
    <label class="field">{t('message.key')}<input value={given.correlationKey} onInput={(event) => set({ correlationKey: event.currentTarget.value })} /></label>
    <label class="field">{t('message.minutes')}<input type="number" min={0} value={minutes} onInput={(event) => set({ minutes: event.currentTarget.valueAsNumber || 0 })} /></label>
    <label class="area">{t('variables.json')}<textarea class="json" rows={4} spellcheck={false} value={text} onInput={(event) => set({ text: event.currentTarget.value })} /></label>
  </ActionDialog>;
}

function PublishButton({ of }: { of?: Subscription }) {
  const open = useSignal(false);
  return <><button type="button" class={of ? undefined : 'primary'} onClick={() => { open.value = true; }}>{t('message.publish')} …</button>
    {open.value && <Publish {...(of && { name: of.messageName, correlationKey: of.correlationKey ?? '' })} onClose={() => { open.value = false; }} />}</>;
}

const columns = (): Column<Subscription>[] => [
  { title: t('message.name'), sort: 'messageName', wide: true, cell: (s) => <b>{s.messageName}</b> },
  { title: t('message.key'), wide: true, cell: (s) => s.correlationKey ? <><code>{s.correlationKey}</code><Copy text={s.correlationKey} /></> : <span class="dim">–</span> },
  { title: t('state'), cell: (s) => <State of={s.messageSubscriptionState} /> },
  { title: t('element'), wide: true, cell: (s) => s.processInstanceKey ? <a data-row href={href(`/instances/${s.processInstanceKey}`, { element: s.elementId })}>{s.processDefinitionId} / {s.elementId}</a> : <>{s.processDefinitionId} / {s.elementId} <span class="tag">{t('message.starts')}</span></> },
  { title: t('changed'), sort: 'lastUpdatedDate', cell: (s) => <Time at={s.lastUpdatedDate} /> },
  { title: t('actions'), cell: (s) => (s.messageSubscriptionState === 'CREATED' ? <PublishButton of={s} /> : null) },
];

export function Messages() {
  return <><Head title={t('nav.messages')} actions={<PublishButton />} />
    <SearchPage<Subscription> resource="message-subscriptions" label={t('nav.messages')} columns={columns()} id={(s) => s.messageSubscriptionKey} sort="-lastUpdatedDate" topics={['messages']} empty={t('empty.messages')}
      states={[['CREATED', t('state.created')], ['CORRELATED', t('state.correlated')], ['all', t('filter.all')]]} fields={[['name', t('message.name')], ['key', t('message.key')]]}
      filter={(state, { name, key }) => ({ ...(state !== 'all' && { messageSubscriptionState: state }), ...(name && { messageName: name }), ...(key && { correlationKey: key }) })} /></>;
}
