// The audit log: who changed what, when, from where, and at which position of the log.
import { shortPosition, wordsOf } from '../../lib/commands.ts';
import { t } from '../../lib/i18n.ts';
import { href } from '../../lib/router.ts';
import { SearchPage } from '../../parts/search.tsx';
import type { Column } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { Frame } from './frame.tsx';

type Record = {
  auditLogKey: string;
  timestamp: string;
  actorId: string | null;
  actorType: string;
  actorAddress: string | null;
  operationType: string;
  entityType: string;
  entityKey: string | null;
  entityDescription: string | null;
  result: 'SUCCESS' | 'FAIL';
  processInstanceKey: string | null;
  processDefinitionId: string | null;
  commandPosition: string | null;
};

const columns = (): Column<Record>[] => [
  { title: t('audit.when'), sort: 'timestamp', cell: (r) => <Time at={r.timestamp} /> },
  {
    title: t('audit.who'),
    sort: 'actorId',
    wide: true,
    cell: (r) => (
      <>
        <b>{r.actorId ?? wordsOf(r.actorType)}</b>
        {r.actorAddress && (
          <>
            {' '}
            <span class="dim">{r.actorAddress}</span>
          </>
        )}
      </>
    ),
  },
  {
    title: t('audit.what'),
    sort: 'operationType',
    cell: (r) => (
      <>
        {r.operationType === 'UNKNOWN'
          ? (r.entityDescription ?? wordsOf(r.entityType))
          : `${wordsOf(r.operationType)} ${wordsOf(r.entityType)}`}
      </>
    ),
  },
  {
    title: t('audit.which'),
    wide: true,
    cell: (r) =>
      r.processInstanceKey ? (
        <a data-row href={href(`/instances/${r.processInstanceKey}`)}>
          {r.processDefinitionId ?? r.processInstanceKey}
        </a>
      ) : (
        <>
          {r.entityKey ?? ''}{' '}
          <span class="dim">{r.operationType === 'UNKNOWN' ? '' : (r.entityDescription ?? '')}</span>
        </>
      ),
  },
  {
    title: t('audit.result'),
    cell: (r) => (
      <span class={r.result === 'FAIL' ? 'state bad' : 'state ok'}>
        <i aria-hidden="true">{r.result === 'FAIL' ? '!' : '✓'}</i>
        {t(r.result === 'FAIL' ? 'audit.failed' : 'audit.succeeded')}
      </span>
    ),
  },
  {
    title: t('position'),
    cell: (r) =>
      r.commandPosition ? (
        <a href={href('/log', { command: r.commandPosition })}>
          <code>{shortPosition(r.commandPosition)}</code>
        </a>
      ) : (
        <span class="dim">–</span>
      ),
  },
];

export function Audit() {
  return (
    <Frame title={t('access.audit')} need={['AUDIT_LOG', 'READ']}>
      <SearchPage<Record>
        resource="audit-logs"
        label={t('access.audit')}
        count="count.records"
        columns={columns()}
        id={(r) => r.auditLogKey}
        sort="-timestamp"
        topics={['log']}
        empty={t('empty.audit')}
        way={['/access', 'nav.access']}
        states={[
          ['all', t('filter.all')],
          ['SUCCESS', t('audit.succeeded')],
          ['FAIL', t('audit.failed')],
        ]}
        fields={[
          ['actor', t('audit.who')],
          ['entity', t('audit.which')],
          ['instance', t('instance')],
        ]}
        filter={(state, { actor, entity, instance }) => ({
          ...(state !== 'all' && { result: state }),
          ...(actor && { actorId: actor }),
          ...(entity && { entityKey: entity }),
          ...(instance && { processInstanceKey: instance }),
        })}
      />
    </Frame>
  );
}
