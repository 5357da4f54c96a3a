// Who works on a task: claim it, release it, or give it to somebody.
import { useSignal } from '@preact/signals';
import { get } from '../lib/api.ts';
import { perform, type Command } from '../lib/commands.ts';
import { t } from '../lib/i18n.ts';
import { CLAIM_TASK, may, UPDATE_TASK, type Need } from '../lib/session.ts';
import type { UserTask } from '../lib/shapes.ts';
import { Act } from '../parts/act.tsx';
import { ActionDialog, type Checked } from '../parts/action.tsx';
import { differences } from '../parts/conflict.tsx';

function Assign({ task, onClose }: { task: UserTask; onClose: () => void }) {
  const to = useSignal(task.assignee ?? ''), before = useSignal(task.assignee ?? '').value, path = `/v2/user-tasks/${task.userTaskKey}`, name = t('task.assignee');
  const check = async (): Promise<Checked> => ({ differences: differences({ [name]: before }, { [name]: (await get<UserTask>(path)).assignee ?? '' }, { [name]: to.value }) });
  return <ActionDialog title={t('task.assign')} button={t('task.assign')} onClose={onClose} check={check} invalid={to.value ? null : t('task.assignee')} commands={[{ method: 'POST', path: `${path}/assignment`, body: { assignee: to.value } }]}>
    <label class="field">{name}<input autofocus value={to.value} onInput={(event) => { to.value = event.currentTarget.value; }} /></label>
  </ActionDialog>;
}

export function Assignment({ task, me }: { task: UserTask; me: string }) {
  const open = useSignal(false), path = `/v2/user-tasks/${task.userTaskKey}`, of = task.processDefinitionId;
  if (task.state !== 'CREATED') return null;
  const claim: Command = { method: 'POST', path: `${path}/assignment`, body: { assignee: me, allowOverride: false } };
  const claims: Need = may(UPDATE_TASK, of) ? UPDATE_TASK : CLAIM_TASK;
  return <>
    {task.assignee ? <Act need={UPDATE_TASK} of={of} onClick={() => void perform(t('task.release'), { method: 'DELETE', path: `${path}/assignee` })}>{t('task.release')}</Act>
      : <Act need={claims} of={of} onClick={() => void perform(t('task.claim'), claim)}>{t('task.claim')}</Act>}
    <Act need={UPDATE_TASK} of={of} onClick={() => { open.value = true; }}>{t('task.assign')} …</Act>
    {open.value && <Assign task={task} onClose={() => { open.value = false; }} />}
  </>;
}
