// Timers: what fires next. A timer can fire now, or move.

import { useSignal } from '@preact/signals';
import { get } from '../lib/api.ts';
import { t } from '../lib/i18n.ts';
import { UPDATE_INSTANCE } from '../lib/session.ts';
import type { Timer } from '../lib/shapes.ts';
import { when } from '../lib/time.ts';
import { Act } from '../parts/act.tsx';
import { ActionDialog } from '../parts/action.tsx';
import { differences } from '../parts/conflict.tsx';
import { Field } from '../parts/field.tsx';
import { Head } from '../parts/head.tsx';
import { Place } from '../parts/place.tsx';
import { SearchPage } from '../parts/search.tsx';
import { State } from '../parts/state.tsx';
import type { Column } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';

/** The local time in the form of an input. */
const local = (iso: string): string => {
  const d = new Date(iso);
  return new Date(d.getTime() - d.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
};

/** Fire a timer now, or move it. */
export function TimerActions({ timer }: { timer: Timer }) {
  const open = useSignal<'fire' | 'move' | null>(null);
  const to = useSignal(local(timer.dueDate));
  const close = () => {
    open.value = null;
  };
  const before = useSignal(timer.dueDate);
  if (timer.state !== 'PENDING') return null;
  const begin = () => {
    before.value = timer.dueDate;
    to.value = local(timer.dueDate);
    open.value = 'move';
  };
  const check = async () => ({
    differences: differences(
      { [t('timer.due')]: when(before.value) },
      { [t('timer.due')]: when((await get<Timer>(path)).dueDate) },
      { [t('timer.due')]: when(new Date(to.value).toISOString()) },
    ),
  });
  const path = `/v2/timers/${timer.timerKey}`;
  const due = to.value ? new Date(to.value) : null;
  return (
    <span class="row">
      <Act
        need={UPDATE_INSTANCE}
        of={timer.processDefinitionId}
        onClick={() => {
          open.value = 'fire';
        }}
      >
        {t('timer.fire')} …
      </Act>
      <Act need={UPDATE_INSTANCE} of={timer.processDefinitionId} onClick={begin}>
        {t('timer.move')} …
      </Act>
      {open.value === 'fire' && (
        <ActionDialog
          title={t('timer.fire')}
          button={t('timer.fire')}
          onClose={close}
          commands={[{ method: 'POST', path: `${path}/trigger`, cli: `fire ${timer.timerKey}` }]}
        >
          <p>{t('timer.fireNote')}</p>
        </ActionDialog>
      )}
      {open.value === 'move' && (
        <ActionDialog
          title={t('timer.move')}
          button={t('timer.move')}
          onClose={close}
          check={check}
          invalid={due ? null : t('timer.due')}
          commands={[
            {
              method: 'PATCH',
              path,
              body: { dueDate: due?.toISOString() ?? '' },
              cli: `move ${timer.timerKey} ${due?.toISOString() ?? ''}`,
            },
          ]}
        >
          <Field label={t('timer.due')} value={to} type="datetime-local" step={1} />
        </ActionDialog>
      )}
    </span>
  );
}

const columns = (): Column<Timer>[] => [
  { title: t('timer.due'), sort: 'dueDate', cell: (timer) => <Time at={timer.dueDate} /> },
  { title: t('state'), cell: (timer) => <State of={timer.state} /> },
  { title: t('element'), wide: true, cell: (timer) => <Place at={timer} /> },
  { title: t('timer.kind'), cell: (timer) => <span class="dim">{timer.type.toLowerCase().replaceAll('_', ' ')}</span> },
  { title: t('actions'), cell: (timer) => <TimerActions timer={timer} /> },
];

export function Timers() {
  return (
    <>
      <Head title={t('nav.timers')} />
      <SearchPage<Timer>
        resource="timers"
        label={t('nav.timers')}
        count="count.timers"
        columns={columns()}
        id={(timer) => timer.timerKey}
        sort="dueDate"
        topics={['timers']}
        empty={t('empty.timers')}
        states={[
          ['PENDING', t('state.pending')],
          ['TRIGGERED', t('state.triggered')],
          ['FAILED', t('state.failed')],
          ['all', t('filter.all')],
        ]}
        fields={[
          ['process', t('process')],
          ['element', t('element')],
        ]}
        filter={(state, { process, element }) => ({
          ...(state !== 'all' && { state }),
          ...(process && { processDefinitionId: process }),
          ...(element && { elementId: element }),
        })}
      />
    </>
  );
}
