// The assignment of a task: claim it, release it, or give it to somebody.

import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { get, search } from '../lib/api.ts';
import { argument, type Command, perform } from '../lib/commands.ts';
import { type Key, t } from '../lib/i18n.ts';
import { CLAIM_TASK, may, type Need, UPDATE_TASK, me as whoami } from '../lib/session.ts';
import type { UserTask } from '../lib/shapes.ts';
import { Act } from '../parts/act.tsx';
import { ActionDialog, type Checked } from '../parts/action.tsx';
import { differences } from '../parts/conflict.tsx';
import { Field } from '../parts/field.tsx';
import { Opening } from '../parts/opening.tsx';
import { commentOf, MOST, type TaskComment } from './task_comments.tsx';

/** The newest comment on a task; null without any. */
async function newestOf(key: string): Promise<TaskComment | null> {
  const newest = { sort: [{ field: 'creationDate', order: 'DESC' as const }], page: { limit: 1 } };
  return (await search<TaskComment>(`user-tasks/${key}/comments`, newest)).items[0] ?? null;
}

function Assign({ task, onClose }: { task: UserTask; onClose: () => void }) {
  const to = useSignal(task.assignee ?? '');
  const before = useSignal(task.assignee ?? '').value;
  const note = useSignal('');
  const written = useSignal('');
  const newest = useRef<string | null | undefined>(undefined); // the key of the one before the note; undefined before the first try
  const noting: Command = { ...commentOf(task.userTaskKey, note.value), done: () => (written.value = note.value) };
  /** Whether an earlier try has written the note, and its answer was lost. */
  const isWritten = async (): Promise<boolean> => {
    const found = await newestOf(task.userTaskKey);
    if (newest.current === undefined) newest.current = found?.commentKey ?? null;
    const isNew = found !== null && found.commentKey !== newest.current;
    return isNew && found.text === note.value && found.author === whoami.value?.username;
  };
  const isNoting = note.value.trim() !== '' && note.value !== written.value;
  const path = `/v2/user-tasks/${task.userTaskKey}`;
  const name = t('task.assignee');
  const check = async (): Promise<Checked> => ({
    differences: differences(
      { [name]: before },
      { [name]: (await get<UserTask>(path)).assignee ?? '' },
      { [name]: to.value },
    ),
    done: isNoting && (await isWritten()) ? [noting] : [],
  });
  return (
    <ActionDialog
      title={t('task.assign')}
      button={t('task.assign')}
      onClose={onClose}
      check={check}
      invalid={to.value ? null : t('task.assignee')}
      commands={[
        // The note first: after the assignment the task may be out of reach. Once: the assignment may be sent again.
        ...(isNoting ? [noting] : []),
        {
          method: 'POST',
          path: `${path}/assignment`,
          body: { assignee: to.value },
          cli: `task assign ${argument(to.value)} ${task.userTaskKey}`,
        },
      ]}
    >
      <Field label={name} value={to} autofocus />
      <Field label={t('comment.note')} value={note} maxLength={MOST} />
    </ActionDialog>
  );
}

/** Claim a task, or release it. */
export function claimOf(task: UserTask, me: string): [Command, Key] {
  const path = `/v2/user-tasks/${task.userTaskKey}`;
  return task.assignee
    ? [{ method: 'DELETE', path: `${path}/assignee`, cli: `task unassign ${task.userTaskKey}` }, 'task.release']
    : [
        {
          method: 'POST',
          path: `${path}/assignment`,
          body: { assignee: me, allowOverride: false },
          cli: `task claim ${task.userTaskKey} --user ${argument(me)}`,
        },
        'task.claim',
      ];
}

export function Assignment({ task, me }: { task: UserTask; me: string }) {
  const of = task.processDefinitionId;
  const [command, label] = claimOf(task, me);
  if (task.state !== 'CREATED') return null;
  const claims: Need = may(UPDATE_TASK, of) ? UPDATE_TASK : CLAIM_TASK;
  return (
    <>
      <Act need={task.assignee ? UPDATE_TASK : claims} of={of} onClick={() => void perform(t(label), command)}>
        {t(label)}
      </Act>
      <Opening need={UPDATE_TASK} of={of} text={t('task.assign')}>
        {(close) => <Assign task={task} onClose={close} />}
      </Opening>
    </>
  );
}
