// Why no match: who would get a message with this name and key, who nearly would, and who got one already.
import { search } from '../lib/api.ts';
import { t } from '../lib/i18n.ts';
import { type Verdict, verdicts } from '../lib/matching.ts';
import { useResource } from '../lib/resource.ts';
import { href, put, query } from '../lib/router.ts';
import type { Subscription } from '../lib/shapes.ts';
import { Head } from '../parts/head.tsx';
import { ProblemBox } from '../parts/problem.tsx';
import { Copy, Time } from '../parts/time.tsx';
import { PublishButton } from './message_actions.tsx';

type Correlation = {
  messageKey: string;
  subscriptionKey: string;
  processInstanceKey: string;
  processDefinitionId: string;
  elementId: string;
  correlationTime: string;
};
type Found = { verdicts: Verdict[]; received: Correlation[] };

const MOST = 50;

async function load(name: string, key: string, abort: AbortSignal): Promise<Found> {
  const open = { messageSubscriptionState: 'CREATED' };
  const page = { limit: MOST };
  const [named, keyed, received] = await Promise.all([
    search<Subscription>('message-subscriptions', { filter: { ...open, messageName: name }, page }, abort),
    key
      ? search<Subscription>('message-subscriptions', { filter: { ...open, correlationKey: key }, page }, abort)
      : null,
    search<Correlation>(
      'correlated-message-subscriptions',
      {
        filter: { messageName: name, ...(key && { correlationKey: key }) },
        sort: [{ field: 'correlationTime', order: 'DESC' }],
        page: { limit: 10 },
      },
      abort,
    ),
  ]);
  return { verdicts: verdicts(name, key, named.items, keyed?.items ?? []), received: received.items };
}

function Place({ of }: { of: Subscription | Correlation }) {
  const text = `${of.processDefinitionId} / ${of.elementId}`;
  return of.processInstanceKey ? (
    <a data-row href={href(`/instances/${of.processInstanceKey}`, { element: of.elementId })}>
      {text}
    </a>
  ) : (
    <b>{text}</b>
  );
}

function Line({ verdict }: { verdict: Verdict }) {
  if (verdict.kind === 'nothing')
    return (
      <li class="verdict bad">
        <i aria-hidden="true">×</i>
        <span>{t('match.nothing')}</span>
      </li>
    );
  const { of, kind } = verdict;
  const isGood = kind === 'waits' || kind === 'starts';
  return (
    <li class={isGood ? 'verdict ok' : 'verdict'}>
      <i aria-hidden="true">{isGood ? '✓' : '≠'}</i>
      <span>
        <Place of={of} /> {t(`match.${kind}`)}{' '}
        {kind === 'otherKey' && (
          <>
            <code>{of.correlationKey}</code>
            <Copy text={of.correlationKey ?? ''} />
            {verdict.isAlike && <b> {t('match.alike')}</b>}
          </>
        )}
        {kind === 'otherName' && (
          <>
            <code>{of.messageName}</code>
            <Copy text={of.messageName} />
          </>
        )}
      </span>
    </li>
  );
}

function Answer({ name, messageKey }: { name: string; messageKey: string }) {
  const found = useResource(`match ${name}\n${messageKey}`, (abort) => load(name, messageKey, abort), ['messages']);
  const data = found.data.value;
  if (found.problem.value) return <ProblemBox problem={found.problem.value} retry={found.reload} />;
  if (!data) return <p class="dim loading">{t('loading')}</p>;
  return (
    <div class="stack narrow" aria-live="polite">
      <h2>{t('match.who')}</h2>
      <ul class="verdicts">
        {data.verdicts.map((verdict, i) => (
          <Line key={i} verdict={verdict} />
        ))}
      </ul>
      <h2>{t('match.received')}</h2>
      {data.received.length ? (
        <ul class="verdicts">
          {data.received.map((of) => (
            <li key={of.subscriptionKey + of.messageKey} class="verdict">
              <i aria-hidden="true">✉</i>
              <span>
                <Place of={of} /> <Time at={of.correlationTime} />
              </span>
            </li>
          ))}
        </ul>
      ) : (
        <p class="dim">{t('match.nobody')}</p>
      )}
    </div>
  );
}

export function Match() {
  const { name = '', key = '' } = Object.fromEntries(query.value);
  return (
    <>
      <Head
        title={t('match.title')}
        crumbs={<a href={href('/messages')}>{t('nav.messages')}</a>}
        actions={<PublishButton name={name} correlationKey={key} />}
      />
      <form class="filters" role="search" aria-label={t('filters')} onSubmit={(event) => event.preventDefault()}>
        <input
          type="search"
          data-search
          placeholder={t('message.name')}
          aria-label={t('message.name')}
          value={name}
          onChange={(event) => put({ name: event.currentTarget.value || null })}
        />
        <input
          type="search"
          placeholder={t('message.key')}
          aria-label={t('message.key')}
          value={key}
          onChange={(event) => put({ key: event.currentTarget.value || null })}
        />
      </form>
      {name ? (
        <Answer name={name} messageKey={key} />
      ) : (
        <div class="empty">
          <p>{t('match.empty')}</p>
        </div>
      )}
    </>
  );
}
