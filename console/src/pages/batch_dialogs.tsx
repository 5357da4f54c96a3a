// Dialogs that change everything that matches a filter, as a batch operation.
import { cancelAll, retryIncidents, retryOfInstances, type Filter } from '../lib/batches.ts';
import type { Command } from '../lib/commands.ts';
import { t } from '../lib/i18n.ts';
import { go, href } from '../lib/router.ts';
import { ActionDialog } from '../parts/action.tsx';

export type BatchDialogProps = { what: 'cancel' | 'retry' | 'retryIncidents'; filter: Filter; total: string; onClose: () => void };
const COMMANDS: Record<BatchDialogProps['what'], (filter: Filter) => Command> = { cancel: cancelAll, retry: retryOfInstances, retryIncidents };

export function BatchDialog({ what, filter, total, onClose }: BatchDialogProps) {
  const title = t(what === 'cancel' ? 'batch.cancelAll' : 'incident.retryAll', { n: total });
  const opened = (answer: unknown) => go(href(`/batches/${(answer as { batchOperationKey: string }).batchOperationKey}`));
  return <ActionDialog title={title} button={title} danger={what === 'cancel'} commands={[COMMANDS[what](filter)]} onClose={onClose} onDone={opened}>
    <p>{t(what === 'cancel' ? 'batch.cancelNote' : 'incident.retryNote')}</p>
    <p class="dim">{t('batch.note')}</p>
  </ActionDialog>;
}
