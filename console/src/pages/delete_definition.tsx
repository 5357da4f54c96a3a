// Delete a version of a process: nothing starts from it any more, and what runs goes on to its end. Its ended instances go with it if one asks.
import { useSignal } from '@preact/signals';
import { openBatch } from '../lib/batches.ts';
import { t } from '../lib/i18n.ts';
import { DELETE_INSTANCE, DELETE_PROCESS } from '../lib/session.ts';
import type { Definition } from '../lib/shapes.ts';
import { lackOf } from '../parts/act.tsx';
import { ActionDialog } from '../parts/action.tsx';
import { Check } from '../parts/check.tsx';
import { Opening } from '../parts/opening.tsx';

type Answer = { batchOperation?: { batchOperationKey: string } | null } | '';

function Delete({ definition, onClose }: { definition: Definition; onClose: () => void }) {
  const history = useSignal(false);
  const lack = lackOf(DELETE_INSTANCE, definition.processDefinitionId);
  const title = `${t('definition.delete')} v${definition.version}`;
  const deleted = (answer: unknown) => {
    const batch = (answer as Answer) && (answer as Exclude<Answer, ''>).batchOperation;
    if (batch) openBatch(batch);
  };
  return (
    <ActionDialog
      title={title}
      button={t('delete')}
      danger
      onClose={onClose}
      onDone={deleted}
      commands={[
        {
          method: 'POST',
          path: `/v2/resources/${definition.processDefinitionKey}/deletion`,
          ...(history.value && { body: { deleteHistory: true } }),
        },
      ]}
    >
      <p>{t('definition.deleteNote')}</p>
      <Check value={history} disabled={lack !== null}>
        {t('definition.history')}
      </Check>
      {lack && <p class="dim">{lack}</p>}
    </ActionDialog>
  );
}

export function DeleteButton({ definition }: { definition: Definition }) {
  if (definition.state !== 'ACTIVE') return null;
  return (
    <Opening need={DELETE_PROCESS} of={definition.processDefinitionId} text={t('definition.delete')}>
      {(close) => <Delete definition={definition} onClose={close} />}
    </Opening>
  );
}
