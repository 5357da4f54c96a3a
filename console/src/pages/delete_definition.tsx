// Delete a version of a process: nothing starts from it any more, and what runs goes on to its end.
import { useSignal } from '@preact/signals';
import { t } from '../lib/i18n.ts';
import { DELETE_PROCESS } from '../lib/session.ts';
import type { Definition } from '../lib/shapes.ts';
import { Act } from '../parts/act.tsx';
import { ActionDialog } from '../parts/action.tsx';

export function DeleteButton({ definition }: { definition: Definition }) {
  const open = useSignal(false);
  if (definition.state !== 'ACTIVE') return null;
  const title = `${t('definition.delete')} v${definition.version}`;
  return <><Act need={DELETE_PROCESS} of={definition.processDefinitionId} onClick={() => { open.value = true; }}>{t('definition.delete')} …</Act>
    {open.value && <ActionDialog title={title} button={t('delete')} danger onClose={() => { open.value = false; }} commands={[{ method: 'POST', path: `/v2/resources/${definition.processDefinitionKey}/deletion` }]}><p>{t('definition.deleteNote')}</p></ActionDialog>}</>;
}
