// Buffered messages: published, and kept for somebody who begins to wait for them before they expire.
import { t } from '../lib/i18n.ts';
import { href } from '../lib/router.ts';
import { Needing } from '../parts/act.tsx';
import { Head } from '../parts/head.tsx';
import { SearchPage } from '../parts/search.tsx';
import type { Column } from '../parts/table.tsx';
import { Copy, KeyText, Time } from '../parts/time.tsx';
import { PublishButton } from './message_actions.tsx';

type Message = {
  messageKey: string;
  messageName: string;
  correlationKey: string | null;
  messageId: string | null;
  expirationDate: string;
  receivedBy: string[];
};

const columns = (): Column<Message>[] => [
  {
    title: t('message.name'),
    sort: 'messageName',
    wide: true,
    cell: (m) => (
      <a data-row href={href('/messages/match', { name: m.messageName, key: m.correlationKey })}>
        <b>{m.messageName}</b>
      </a>
    ),
  },
  {
    title: t('message.key'),
    wide: true,
    cell: (m) =>
      m.correlationKey ? (
        <>
          <code>{m.correlationKey}</code>
          <Copy text={m.correlationKey} />
        </>
      ) : (
        <span class="dim">–</span>
      ),
  },
  { title: t('message.id'), wide: true, cell: (m) => m.messageId ?? <span class="dim">–</span> },
  { title: t('message.expires'), sort: 'expirationDate', cell: (m) => <Time at={m.expirationDate} /> },
  { title: t('message.receivedBy'), wide: true, cell: (m) => m.receivedBy.join(', ') || <span class="dim">–</span> },
  { title: t('key'), cell: (m) => <KeyText of={m.messageKey} /> },
];

export function Buffered() {
  return (
    <>
      <Head
        title={t('message.buffered')}
        crumbs={<a href={href('/messages')}>{t('nav.messages')}</a>}
        actions={
          <>
            <a class="button" href={href('/messages/match')}>
              {t('match.title')}
            </a>
            <PublishButton />
          </>
        }
      />
      <Needing need={['MESSAGE', 'READ']}>
        <SearchPage<Message>
          resource="messages"
          label={t('message.buffered')}
          count="count.messages"
          columns={columns()}
          id={(m) => m.messageKey}
          sort="-messageKey"
          topics={['messages']}
          empty={t('empty.buffered')}
          way={['/messages', 'nav.messages']}
          states={[]}
          fields={[
            ['name', t('message.name')],
            ['key', t('message.key')],
          ]}
          filter={(_, { name, key }) => ({ ...(name && { messageName: name }), ...(key && { correlationKey: key }) })}
        />
      </Needing>
    </>
  );
}
