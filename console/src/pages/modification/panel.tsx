// Modify an instance: tokens are moved, begun and ended on its diagram, and sent together.
import { tokensAt } from '../../lib/counts.ts';
import { t } from '../../lib/i18n.ts';
import { type Now, versionOf } from '../../lib/instance.ts';
import { dryRunInto, tagOf } from '../../lib/operations/dry_run.ts';
import type { FlowNode } from '../../lib/operations/flow_nodes.ts';
import { invalidOf, modificationOf } from '../../lib/operations/modification.ts';
import { useResource } from '../../lib/resource.ts';
import { MODIFY_INSTANCE } from '../../lib/session.ts';
import { ActionDialog } from '../../parts/action.tsx';
import { Opening } from '../../parts/opening.tsx';
import { ProblemBox } from '../../parts/problem.tsx';
import { useAsked } from '../operations/asked.ts';
import { Preview } from '../operations/preview.tsx';
import { Changes, Sentences } from './changes.tsx';
import { clear, type Plan } from './plan.ts';
import { Selected } from './selected.tsx';

export type PanelProps = {
  now: Now;
  plan: Plan;
  nodes: ReadonlyMap<string, FlowNode>;
  selected: string | null;
  name: (id: string) => string;
  onClose: () => void;
};

export function Panel({ now, plan, nodes, selected, name, onClose }: PanelProps) {
  const { instance } = now;
  const key = instance.processInstanceKey;
  const version = useResource(`version ${key}`, () => versionOf(instance), [`instance:${key}`]).data.value ?? null;
  const changes = plan.changes.value;
  const invalid = invalidOf(changes);
  const command = modificationOf(key, changes);
  const { ask, busy, failed, answer } = useAsked(command, dryRunInto(plan.problems));
  const preview = answer?.problems.length === 0 ? answer : null;
  return (
    <aside aria-label={t('modify.title')}>
      <div class="aside-head">
        <h2>{t('modify.title')}</h2>
        <button type="button" class="quiet" aria-label={t('modify.end')} title={t('modify.end')} onClick={onClose}>
          ×
        </button>
      </div>
      <Selected
        instance={key}
        plan={plan}
        selected={selected}
        nodes={nodes}
        active={tokensAt(now.statistics).get(selected ?? '') ?? 0}
        name={name}
      />
      <h3>{t('modify.changes')}</h3>
      <Changes instance={key} plan={plan} nodes={nodes} name={name} />
      {changes.length > 0 && (
        <div class="row">
          <button type="button" onClick={() => clear(plan)}>
            {t('modify.discard')}
          </button>
          <button type="button" disabled={invalid !== null || busy} onClick={() => void ask()}>
            {t('preview')}
          </button>
          <Opening
            need={MODIFY_INSTANCE}
            of={now.instance.processDefinitionId}
            class="primary"
            disabled={invalid !== null}
            text={t('modify.apply')}
          >
            {(close) => (
              <ActionDialog
                title={t('modify.instance')}
                button={t('modify.apply')}
                commands={[command]}
                version={preview ? tagOf(preview) : version}
                onProblem={({ problems }) => {
                  if (!problems.length) return;
                  plan.problems.value = problems;
                  close();
                }}
                onClose={close}
                onDone={() => {
                  clear(plan);
                  onClose();
                }}
              >
                <p>{t('modify.applyNote')}</p>
                <Sentences of={changes} name={name} />
              </ActionDialog>
            )}
          </Opening>
        </div>
      )}
      {failed && <ProblemBox problem={failed} />}
      {preview && <Preview of={preview} name={name} />}
    </aside>
  );
}
