// The preview of an operation on an instance: what begins, what ends, and what would wait for ever.
import { type Key, number, t } from '../../lib/i18n.ts';
import type { DryRun, EffectItem, StarvingJoin } from '../../lib/operations/dry_run.ts';

const SHOWN = 30;
type Named = (id: string) => string;

const KINDS: Record<string, Key> = {
  elements: 'elements',
  jobs: 'jobs',
  userTasks: 'nav.tasks',
  timers: 'nav.timers',
  subscriptions: 'preview.subscriptions',
  incidents: 'nav.incidents',
};
const SIGNS = { OPENS: '+', CLOSES: '−', STAYS: '~' } as const;
const KIND_OF: Record<string, Key> = {
  ELEMENT: 'preview.element',
  JOB: 'preview.job',
  USER_TASK: 'preview.task',
  TIMER: 'preview.timer',
  SUBSCRIPTION: 'preview.subscription',
  INCIDENT: 'preview.incident',
};

function Counts({ of }: { of: DryRun['effects']['counts'] }) {
  const rows = Object.entries(of).filter(([, { opens, closes, stays }]) => opens + closes + stays > 0);
  return (
    <table class="small" aria-label={t('preview.counts')}>
      <thead>
        <tr>
          <td />
          <th scope="col">{t('preview.opens')}</th>
          <th scope="col">{t('preview.closes')}</th>
          <th scope="col">{t('preview.stays')}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([kind, { opens, closes, stays }]) => (
          <tr key={kind}>
            <th scope="row">{KINDS[kind] ? t(KINDS[kind]) : kind}</th>
            <td class="number">{number(opens)}</td>
            <td class="number">{number(closes)}</td>
            <td class="number dim">{number(stays)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Item({ of, name }: { of: EffectItem; name: Named }) {
  const kind = KIND_OF[of.kind];
  return (
    <li>
      <b aria-hidden="true">{SIGNS[of.effect]}</b> <span class="sr">{t(`preview.${of.effect}`)}</span>{' '}
      {of.formerElementId && `${of.formerElementId} → `}
      {name(of.elementId)}{' '}
      <span class="dim">
        {kind ? t(kind) : of.kind} {of.kind !== 'ELEMENT' && of.detail}
      </span>
    </li>
  );
}

const starving = ({ elementId, missingFlowIds }: StarvingJoin, name: Named): string =>
  t('preview.starves', { name: name(elementId), flows: missingFlowIds.map(name).join(', ') });

/** `of`: of a command that would not be refused. */
export function Preview({ of, name }: { of: DryRun; name: Named }) {
  const { counts, items, itemCount, starvingJoins } = of.effects;
  const changing = items.filter(({ effect, formerElementId }) => effect !== 'STAYS' || formerElementId !== null);
  const more = itemCount - items.length + Math.max(0, changing.length - SHOWN);
  return (
    <section aria-label={t('preview')}>
      <h3>{t('preview')}</h3>
      {of.state === 'TERMINATED' && (
        <p class="invalid" role="alert">
          {t('preview.ends')}
        </p>
      )}
      {starvingJoins.map((join) => (
        <p key={join.elementId} class="invalid" role="alert">
          {starving(join, name)}
        </p>
      ))}
      {of.undo && (
        <p class="dim">{of.undo.reason ? t('preview.noUndo', { reason: of.undo.reason }) : t('preview.undo')}</p>
      )}
      <Counts of={counts} />
      <ul class="effects">
        {changing.slice(0, SHOWN).map((item, i) => (
          <Item key={i} of={item} name={name} />
        ))}
      </ul>
      {more > 0 && <p class="dim">{t('preview.more', { n: number(more) })}</p>}
      <details class="commands">
        <summary>{t('preview.lines', { n: number(of.lineCount) })}</summary>
        <pre class="json" tabIndex={0}>
          {of.lines.join('\n')}
        </pre>
      </details>
    </section>
  );
}
