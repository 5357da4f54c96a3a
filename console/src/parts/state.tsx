// States: a word, a shape and a colour, so that none of them is needed alone.
import { type Key, t } from '../lib/i18n.ts';

type Look = { tone: string; icon: string; text: Key };
const LOOKS: Record<string, Look> = {
  ACTIVE: { tone: 'run', icon: '●', text: 'state.active' },
  INCIDENT: { tone: 'bad', icon: '!', text: 'state.incident' },
  COMPLETED: { tone: 'ok', icon: '✓', text: 'state.completed' },
  TERMINATED: { tone: '', icon: '×', text: 'state.terminated' },
  CANCELED: { tone: '', icon: '×', text: 'state.terminated' },
  PARTIALLY_COMPLETED: { tone: 'wait', icon: '◐', text: 'state.partial' },
  SKIPPED: { tone: '', icon: '–', text: 'batch.skipped' },
  SUSPENDED: { tone: 'wait', icon: 'Ⅱ', text: 'state.suspended' },
  RESOLVED: { tone: 'ok', icon: '✓', text: 'state.resolved' },
  DRAINING: { tone: 'wait', icon: '◐', text: 'state.draining' },
  CREATED: { tone: 'run', icon: '○', text: 'state.created' },
  EVALUATED: { tone: 'ok', icon: '✓', text: 'state.evaluated' },
  FAILING: { tone: 'bad', icon: '!', text: 'state.failing' },
  CONFLICT: { tone: 'bad', icon: '!', text: 'state.conflict' },
  FAILED: { tone: 'bad', icon: '!', text: 'state.failed' },
  TIMED_OUT: { tone: 'wait', icon: '◔', text: 'state.timedOut' },
  RETRIES_UPDATED: { tone: 'wait', icon: '↻', text: 'state.retriesUpdated' },
  ERROR_THROWN: { tone: 'bad', icon: '!', text: 'state.errorThrown' },
  PENDING: { tone: 'wait', icon: '◔', text: 'state.pending' },
  PROCESSED: { tone: 'ok', icon: '✓', text: 'state.processed' },
  REJECTED: { tone: 'bad', icon: '!', text: 'state.rejected' },
  TRIGGERED: { tone: 'ok', icon: '✓', text: 'state.triggered' },
  CORRELATED: { tone: 'ok', icon: '✓', text: 'state.correlated' },
  LEASED: { tone: 'run', icon: '●', text: 'state.leased' },
  LIVE: { tone: 'ok', icon: '✓', text: 'state.live' },
  DEAD: { tone: 'bad', icon: '!', text: 'state.dead' },
};

export function State({ of, incident = false }: { of: string; incident?: boolean }) {
  const look = LOOKS[incident && of === 'ACTIVE' ? 'INCIDENT' : of];
  return (
    <span class={`state ${look?.tone ?? ''}`}>
      <i aria-hidden="true">{look?.icon ?? '○'}</i>
      {look ? t(look.text) : of.toLowerCase().replaceAll('_', ' ')}
    </span>
  );
}
