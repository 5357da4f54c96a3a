// Messages: who waits for what, what is buffered, and publishing.
import { t } from '../lib/i18n.ts';
import { href } from '../lib/router.ts';
import type { Subscription } from '../lib/shapes.ts';
import { Head } from '../parts/head.tsx';
import { Place } from '../parts/place.tsx';
import { SearchPage } from '../parts/search.tsx';
import { State } from '../parts/state.tsx';
import type { Column } from '../parts/table.tsx';
import { Copy, Time } from '../parts/time.tsx';
import { BroadcastButton, EvaluateButton, PublishButton } from './message_actions.tsx';

const columns = (): Column<Subscription>[] => [
  { title: t('message.name'), sort: 'messageName', wide: true, cell: (s) => <b>{s.messageName}</b> },
  {
    title: t('message.key'),
    wide: true,
    cell: (s) =>
      s.correlationKey ? (
        <>
          <code>{s.correlationKey}</code>
          <Copy text={s.correlationKey} />
        </>
      ) : (
        <span class="dim">–</span>
      ),
  },
  { title: t('state'), cell: (s) => <State of={s.messageSubscriptionState} /> },
  {
    title: t('element'),
    wide: true,
    cell: (s) => (
      <>
        <Place at={s} />
        {!s.processInstanceKey && (
          <>
            {' '}
            <span class="tag">{t('message.starts')}</span>
          </>
        )}
      </>
    ),
  },
  { title: t('changed'), sort: 'lastUpdatedDate', cell: (s) => <Time at={s.lastUpdatedDate} /> },
  {
    title: t('actions'),
    cell: (s) =>
      s.messageSubscriptionState === 'CREATED' ? (
        <PublishButton name={s.messageName} correlationKey={s.correlationKey ?? ''} />
      ) : null,
  },
];

export function Messages() {
  return (
    <>
      <Head
        title={t('nav.messages')}
        actions={
          <>
            <a class="button" href={href('/messages/buffered')}>
              {t('message.buffered')}
            </a>
            <a class="button" href={href('/messages/match')}>
              {t('match.title')}
            </a>
            <EvaluateButton />
            <BroadcastButton />
            <PublishButton />
          </>
        }
      />
      <SearchPage<Subscription>
        resource="message-subscriptions"
        label={t('nav.messages')}
        count="count.subscriptions"
        columns={columns()}
        id={(s) => s.messageSubscriptionKey}
        sort="-lastUpdatedDate"
        topics={['messages']}
        empty={t('empty.messages')}
        states={[
          ['CREATED', t('state.created')],
          ['CORRELATED', t('state.correlated')],
          ['all', t('filter.all')],
        ]}
        fields={[
          ['name', t('message.name')],
          ['key', t('message.key')],
        ]}
        filter={(state, { name, key }) => ({
          ...(state !== 'all' && { messageSubscriptionState: state }),
          ...(name && { messageName: name }),
          ...(key && { correlationKey: key }),
        })}
      />
    </>
  );
}
