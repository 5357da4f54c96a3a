// Two versions of a decision: the rules of a table in one list with what changed, any other logic side by side.
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { Boxed } from '../decisions/boxed.tsx';
import { type ColumnPair, type Difference, differenceOf, inputAt, outputAt, type RulePair } from '../decisions/diff.ts';
import { useGraph } from '../decisions/evaluated.tsx';
import { type Column, type Logic, logicOf, type Rule, type Table } from '../decisions/model.ts';
import { Paged } from '../decisions/rules.tsx';
import { decisionFile } from '../lib/decisions.ts';
import { number, t } from '../lib/i18n.ts';
import { type Resource, useResource } from '../lib/resource.ts';
import type { DecisionDefinition } from '../lib/shapes.ts';
import { Both } from '../parts/both.tsx';
import { Check } from '../parts/check.tsx';
import { ProblemBox } from '../parts/problem.tsx';

const SIGNS = { same: '', added: '+', removed: '−', changed: '≠', moved: '↕' } as const;

function ColumnHead({ of, before, after, end }: { of: ColumnPair; before: Column[]; after: Column[]; end: boolean }) {
  const textOf = (columns: Column[], at: number | null): string | null => {
    if (at === null) return null;
    const { label, text, type, values } = columns[at]!;
    return [label, text, type, values].filter(Boolean).join(' · ');
  };
  return (
    <th scope="col" class={end ? 'out' : undefined}>
      <Both before={textOf(before, of.before)} after={textOf(after, of.after)} />
    </th>
  );
}

type RowProps = { pair: RulePair; before: Table; after: Table; difference: Difference };

function Row({ pair, before, after, difference: { inputs, outputs } }: RowProps) {
  const old = pair.before === null ? null : before.rules[pair.before]!;
  const now = pair.after === null ? null : after.rules[pair.after]!;
  const cell = (of: ColumnPair, read: (rule: Rule, at: number | null) => string) => (
    <Both before={old && read(old, of.before)} after={now && read(now, of.after)} />
  );
  const notes = (rule: Rule | null) => (rule === null ? null : rule.notes.filter(Boolean).join(' · '));
  return (
    <tr class={pair.change}>
      <th scope="row">
        <i aria-hidden="true">{SIGNS[pair.change]}</i> {t(`rule.change.${pair.change}`)}
      </th>
      <td>{pair.before === null ? '' : number(pair.before + 1)}</td>
      <td>{pair.after === null ? '' : number(pair.after + 1)}</td>
      {inputs.map((of, i) => (
        <td key={i}>{cell(of, inputAt)}</td>
      ))}
      {outputs.map((of, i) => (
        <td key={i} class={i ? undefined : 'out'}>
          {cell(of, outputAt)}
        </td>
      ))}
      <td class="note out">
        <Both before={notes(old)} after={notes(now)} />
      </td>
    </tr>
  );
}

type TablesProps = { before: Table; after: Table; label: string; versions: readonly [string, string] };

function Tables({ before, after, label, versions: [old, now] }: TablesProps) {
  const difference = useMemo(() => differenceOf(before, after), [before, after]);
  const only = useSignal(true);
  const { inputs, outputs, rules } = difference;
  const count = (change: RulePair['change']) => rules.filter((pair) => pair.change === change).length;
  const changes = (['added', 'removed', 'changed', 'moved'] as const).map(
    (change) => `${t(`rule.change.${change}`)}: ${number(count(change))}`,
  );
  return (
    <>
      <p role="status">{changes.join(' · ')}</p>
      <Check value={only}>{t('rule.onlyDifferent')}</Check>
      <Paged items={only.value ? rules.filter(({ change }) => change !== 'same') : rules}>
        {(some) => (
          <div class="scroll" tabIndex={0} role="region" aria-label={label}>
            <table class="rules" aria-label={label}>
              <thead>
                <tr>
                  <th scope="col">
                    <Both before={before.policy} after={after.policy} />
                  </th>
                  <th scope="col">{old}</th>
                  <th scope="col">{now}</th>
                  {inputs.map((of, i) => (
                    <ColumnHead key={i} of={of} before={before.inputs} after={after.inputs} end={false} />
                  ))}
                  {outputs.map((of, i) => (
                    <ColumnHead key={i} of={of} before={before.outputs} after={after.outputs} end={i === 0} />
                  ))}
                  <th scope="col" class="out">
                    {t('decision.notes')}
                  </th>
                </tr>
              </thead>
              <tbody>
                {some.map((pair) => (
                  <Row
                    key={`${pair.before} ${pair.after}`}
                    pair={pair}
                    before={before}
                    after={after}
                    difference={difference}
                  />
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Paged>
    </>
  );
}

type File = { xml: string | null };

/** The file of a version, and the logic in it; undefined until it is known, or without the file. */
function useLogic(definition: DecisionDefinition): { file: Resource<File>; logic: Logic | null | undefined } {
  const { decisionDefinitionKey: key, decisionDefinitionId: id } = definition;
  const file = useResource<File>(`dmn ${key}`, async () => ({ xml: await decisionFile(key) }));
  const { graph } = useGraph(file.data.value?.xml);
  const node = graph?.nodes.get(id);
  return { file, logic: useMemo(() => (node ? logicOf(node) : undefined), [node]) };
}

export function Compare({ before, after }: { before: DecisionDefinition; after: DecisionDefinition }) {
  const old = useLogic(before);
  const now = useLogic(after);
  const label = after.name || after.decisionDefinitionId;
  const versions = [`v${before.version}`, `v${after.version}`] as const;
  const problem = old.file.problem.value ?? now.file.problem.value;
  if (problem) return <ProblemBox problem={problem} />;
  if (!old.file.data.value || !now.file.data.value) return <p class="dim loading">{t('loading')}</p>;
  if (old.logic === undefined || now.logic === undefined) return <p class="dim">{t('decision.noFile')}</p>;
  if (JSON.stringify(old.logic) === JSON.stringify(now.logic)) return <p role="status">{t('decision.noDifference')}</p>;
  if (old.logic?.kind === 'table' && now.logic?.kind === 'table')
    return <Tables before={old.logic} after={now.logic} label={label} versions={versions} />;
  return (
    <div class="two">
      {[old, now].map(({ logic }, i) => (
        <section key={versions[i]} aria-label={versions[i]!}>
          <h2>{versions[i]}</h2>
          <Boxed logic={logic!} label={`${label} ${versions[i]}`} />
        </section>
      ))}
    </div>
  );
}
