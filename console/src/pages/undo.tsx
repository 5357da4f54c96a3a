// Undo the latest operation on an instance, while nothing else has happened; if it cannot be undone, the button says why.
import { get } from '../lib/api.ts';
import { type Key, t } from '../lib/i18n.ts';
import { useResource } from '../lib/resource.ts';
import { MODIFY_INSTANCE, type Need, SUSPEND_INSTANCE, UPDATE_INSTANCE } from '../lib/session.ts';
import type { Instance } from '../lib/shapes.ts';
import { ActionDialog } from '../parts/action.tsx';
import { Opening } from '../parts/opening.tsx';

type Operation = 'MODIFY' | 'MIGRATE' | 'SUSPEND' | 'RESUME' | 'ASSIGN_BUSINESS_ID';
type Offer = { offered: boolean; operation: Operation | null; version: number; reason: string | null };

const OPERATIONS: Record<Operation, readonly [need: Need, title: Key]> = {
  MODIFY: [MODIFY_INSTANCE, 'undo.modify'],
  MIGRATE: [UPDATE_INSTANCE, 'undo.migrate'],
  SUSPEND: [SUSPEND_INSTANCE, 'undo.suspend'],
  RESUME: [SUSPEND_INSTANCE, 'undo.resume'],
  ASSIGN_BUSINESS_ID: [UPDATE_INSTANCE, 'undo.businessId'],
};

export function UndoButton({ instance }: { instance: Instance }) {
  const key = instance.processInstanceKey;
  const path = `/v2/process-instances/${key}/undo`;
  const offer = useResource(`undo ${key}`, (abort) => get<Offer>(path, abort), [`instance:${key}`]).data.value;
  if (!offer?.operation) return null;
  const [need, words] = OPERATIONS[offer.operation];
  const title = t(words);
  return (
    <Opening need={need} of={instance.processDefinitionId} why={offer.offered ? null : offer.reason} text={title}>
      {(close) => (
        <ActionDialog
          title={title}
          button={title}
          commands={[{ method: 'POST', path, cli: `undo ${key}` }]}
          version={`"${offer.version}"`}
          onClose={close}
        >
          <p>{t('undo.note')}</p>
        </ActionDialog>
      )}
    </Opening>
  );
}
