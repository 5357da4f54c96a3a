// Dialogs that change everything that matches a filter, as a batch operation.
import {
  allOf,
  cancelAll,
  deleteAll,
  deleteEvaluations,
  type Filter,
  openBatch,
  resumeAll,
  retryIncidents,
  retryOfInstances,
  suspendAll,
  type What,
} from '../lib/batches.ts';
import type { Command } from '../lib/commands.ts';
import { type Key, t } from '../lib/i18n.ts';
import { ActionDialog } from '../parts/action.tsx';
import { Foresee } from './operations/trial.tsx';

export type BatchDialogProps = { what: What; filter: Filter; total: string; onClose: () => void };
const COMMANDS: Record<What, (filter: Filter) => Command> = {
  cancel: cancelAll,
  delete: deleteAll,
  retry: retryOfInstances,
  retryIncidents,
  suspend: suspendAll,
  resume: resumeAll,
  deleteEvaluations,
};
const NOTES: Record<What, Key> = {
  cancel: 'batch.cancelNote',
  delete: 'batch.deleteNote',
  retry: 'incident.retryNote',
  retryIncidents: 'incident.retryNote',
  suspend: 'batch.suspendNote',
  resume: 'batch.resumeNote',
  deleteEvaluations: 'evaluation.deleteAllNote',
};

const DANGEROUS: readonly What[] = ['cancel', 'delete', 'deleteEvaluations'];
/** The batches that the server can foresee. */
const FORESEEN: readonly What[] = ['cancel', 'suspend', 'resume'];

export function BatchDialog({ what, filter, total, onClose }: BatchDialogProps) {
  const title = allOf(what, total);
  const command = COMMANDS[what](filter);
  return (
    <ActionDialog
      title={title}
      button={title}
      danger={DANGEROUS.includes(what)}
      commands={[command]}
      onClose={onClose}
      onDone={openBatch}
    >
      <p>{t(NOTES[what])}</p>
      <p class="dim">{t('batch.note')}</p>
      {FORESEEN.includes(what) && <Foresee command={command} />}
    </ActionDialog>
  );
}
