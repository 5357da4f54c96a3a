// Comments on a task, for those who work on it next.
import { useSignal } from '@preact/signals';
import { type Command, perform } from '../lib/commands.ts';
import { t } from '../lib/i18n.ts';
import { useGrowing } from '../lib/pages.ts';
import { CLAIM_TASK, COMPLETE_TASK, may, type Need, UPDATE_TASK } from '../lib/session.ts';
import type { UserTask } from '../lib/shapes.ts';
import { lackOf } from '../parts/act.tsx';
import { CopyCommands } from '../parts/copy_commands.tsx';
import { ProblemBox } from '../parts/problem.tsx';
import { Rest } from '../parts/rest.tsx';
import { Time } from '../parts/time.tsx';

const SIZE = 20;
export const MOST = 4000;

export type TaskComment = { commentKey: string; author: string; creationDate: string; text: string };

/** The command that writes a comment on a task. */
export const commentOf = (key: string, text: string): Command => ({
  method: 'POST',
  path: `/v2/user-tasks/${key}/comments`,
  body: { text },
});

/** One of these permissions is enough. */
const needOf = (process: string): Need =>
  [UPDATE_TASK, CLAIM_TASK, COMPLETE_TASK].find((need) => may(need, process)) ?? UPDATE_TASK;

export function Comments({ task }: { task: UserTask }) {
  const key = task.userTaskKey;
  const text = useSignal('');
  const busy = useSignal(false);
  const lack = lackOf(needOf(task.processDefinitionId), task.processDefinitionId);
  const found = useGrowing<TaskComment>(
    `user-tasks/${key}/comments`,
    {},
    [{ field: 'creationDate', order: 'DESC' }],
    SIZE,
    ['tasks'],
  );
  const page = found.data.value;
  const command = commentOf(key, text.value);
  const submit = async (event: Event) => {
    event.preventDefault();
    busy.value = true;
    if (await perform(t('comment.add'), command)) text.value = '';
    busy.value = false;
  };
  return (
    <section aria-label={t('comments')}>
      <h3>{t('comments')}</h3>
      {found.problem.value && <ProblemBox problem={found.problem.value} retry={found.reload} />}
      {lack ? (
        <p class="dim">{lack}</p>
      ) : (
        <form class="stack" onSubmit={submit}>
          <label class="field">
            {t('comment.text')}
            <textarea
              rows={2}
              maxLength={MOST}
              value={text.value}
              onInput={(event) => {
                text.value = event.currentTarget.value;
              }}
            />
          </label>
          <CopyCommands commands={[command]} label={t('comment.add')} />
          <div class="row">
            <button type="submit" disabled={busy.value || !text.value.trim()}>
              {t('comment.add')}
            </button>
          </div>
        </form>
      )}
      <ol class="comments">
        {page?.items.map((comment) => (
          <li key={comment.commentKey}>
            <b>{comment.author}</b>{' '}
            <span class="dim">
              <Time at={comment.creationDate} />
            </span>
            <p dir="auto">{comment.text}</p>
          </li>
        ))}
      </ol>
      <Rest count="count.comments" page={page} steps={found} />
    </section>
  );
}
