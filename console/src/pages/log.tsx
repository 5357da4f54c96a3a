// The log of commands: its tail, and each command with its outcome and events.
import { get } from '../lib/api.ts';
import { shortPosition, wordsOf } from '../lib/commands.ts';
import { t } from '../lib/i18n.ts';
import { useResource } from '../lib/resource.ts';
import { href, put, query } from '../lib/router.ts';
import type { CommandStatus } from '../lib/shapes.ts';
import { between } from '../lib/time.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Head } from '../parts/head.tsx';
import { ProblemBox } from '../parts/problem.tsx';
import { State } from '../parts/state.tsx';
import { type Column, Table } from '../parts/table.tsx';
import { KeyText, Time } from '../parts/time.tsx';

type Entry = Omit<CommandStatus, 'events' | 'response'>;
type Tail = { items: Entry[]; partitions: number[]; next: string | null };

const columns = (): Column<Entry>[] => [
  {
    title: t('position'),
    cell: (entry) => (
      <a
        data-row
        href={href('/log', { ...Object.fromEntries(query.value), command: entry.commandPosition })}
        title={entry.commandPosition}
      >
        <code>{shortPosition(entry.commandPosition)}</code>
      </a>
    ),
  },
  { title: t('log.intent'), wide: true, cell: (entry) => <b>{wordsOf(entry.intent, entry.change)}</b> },
  { title: t('state'), cell: (entry) => <State of={entry.status} /> },
  { title: t('log.subject'), cell: (entry) => (entry.key ? <code>{entry.key}</code> : <span class="dim">–</span>) },
  { title: t('log.appended'), cell: (entry) => <Time at={entry.appendedAt} /> },
  {
    title: t('log.took'),
    cell: (entry) => (
      <span class="number">{entry.processedAt ? between(entry.appendedAt, entry.processedAt) : ''}</span>
    ),
  },
  {
    title: t('log.why'),
    wide: true,
    has: (entry) => entry.rejection !== null,
    cell: (entry) =>
      entry.rejection ? (
        <span class="cut bad">
          {entry.rejection.code}: {entry.rejection.reason}
        </span>
      ) : null,
  },
];

function Command({ position }: { position: string }) {
  const found = useResource(`command ${position}`, (abort) => get<CommandStatus>(`/v2/commands/${position}`, abort), [
    'log',
  ]);
  const command = found.data.value;
  return (
    <Dialog
      title={command ? wordsOf(command.intent, command.change) : t('log.intent')}
      wide
      onClose={() => put({ command: null })}
    >
      {found.problem.value && <ProblemBox problem={found.problem.value} />}
      {command && (
        <>
          <dl>
            <dt>{t('position')}</dt>
            <dd>
              <KeyText of={command.commandPosition} />
            </dd>
            <dt>{t('state')}</dt>
            <dd>
              <State of={command.status} />
            </dd>
            <dt>{t('log.appended')}</dt>
            <dd>
              <Time at={command.appendedAt} />
            </dd>
            {command.rejection && (
              <>
                <dt>{command.rejection.code}</dt>
                <dd>{command.rejection.reason}</dd>
              </>
            )}
          </dl>
          <h3>{t('log.events')}</h3>
          {command.events.length ? (
            <ol class="messages">
              {command.events.map(({ type, seq, at, ...fields }, i) => (
                <li key={i} title={`${seq} ${at}`}>
                  <b>{type}</b> <code>{JSON.stringify(fields)}</code>
                </li>
              ))}
            </ol>
          ) : (
            <p class="dim">{t('log.pending')}</p>
          )}
        </>
      )}
    </Dialog>
  );
}

export function Log() {
  const { before, partition, command } = Object.fromEntries(query.value);
  const search = new URLSearchParams({
    ...(before && { before }),
    ...(partition && { partitionId: partition }),
  }).toString();
  const found = useResource(
    `log ${search}`,
    (abort) => get<Tail>(`/v2/commands${search && `?${search}`}`, abort),
    before ? [] : ['log'],
  );
  const tail = found.data.value;
  return (
    <>
      <Head
        title={t('nav.log')}
        actions={
          tail &&
          tail.partitions.length > 1 && (
            <label>
              {t('system.partition')}{' '}
              <select
                value={partition ?? String(tail.partitions[0])}
                onChange={(event) => put({ partition: event.currentTarget.value, before: null })}
              >
                {tail.partitions.map((id) => (
                  <option key={id} value={id}>
                    {id}
                  </option>
                ))}
              </select>
            </label>
          )
        }
      />
      <section class="results stack">
        {found.problem.value && <ProblemBox problem={found.problem.value} retry={found.reload} />}
        {tail &&
          (tail.items.length ? (
            <Table label={t('nav.log')} columns={columns()} items={tail.items} id={(entry) => entry.commandPosition} />
          ) : (
            <div class="empty">
              <p>{t('log.empty')}</p>
            </div>
          ))}
        {tail && (
          <nav class="pager" aria-label={t('pages')}>
            <button type="button" disabled={!before} onClick={() => put({ before: null }, false)}>
              {t('log.newest')}
            </button>
            <button type="button" disabled={!tail.next} onClick={() => put({ before: tail.next }, false)}>
              {t('log.older')}
            </button>
          </nav>
        )}
      </section>
      {command && <Command key={command} position={command} />}
    </>
  );
}
