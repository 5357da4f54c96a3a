// The calls of models by the agents of a process in the past days: how many, and what they cost.
import { type ModelSums, modelSumsOf, money, tokens } from '../../lib/agents.ts';
import { ifAllowed } from '../../lib/api.ts';
import { number, t } from '../../lib/i18n.ts';
import { type Resource, useResource } from '../../lib/resource.ts';
import { ProblemBox } from '../../parts/problem.tsx';
import { type Column, Table } from '../../parts/table.tsx';
import { firstDay, hour } from '../days.tsx';
import { Calls, type CallsProps, Sums } from './calls.tsx';

const DAYS = 14;

/** `definition`: the key of one of the versions of the process. All versions count. */
const useSums = (definition: string, days: number): Resource<ModelSums[] | null> =>
  useResource(
    `agent costs ${definition} ${days} ${hour()}`,
    (abort) => ifAllowed(modelSumsOf(definition, firstDay(days), days, abort)),
    ['instances'],
  );

export type CostCardProps = Omit<CallsProps, 'instance'> & { definition: string };

/** The costs of the whole process, or of the selected element. Nothing if there were none. */
export function AgentCostCard({ definition, selected, onSelect, name }: CostCardProps) {
  const found = useSums(definition, DAYS);
  if (found.problem.value) return <ProblemBox problem={found.problem.value} retry={found.reload} />;
  const sums = found.data.value?.filter((one) => selected === null || one.elementId === selected) ?? [];
  if (!sums.length) return null;
  return (
    <>
      <h3>{t('agents.days', { n: number(DAYS) })}</h3>
      <Sums of={sums} name={name} onSelect={onSelect} />
    </>
  );
}

/** A section of a page. Nothing if there were none. */
export function AgentCosts({ definition, days }: { definition: string; days: number }) {
  const found = useSums(definition, days);
  const columns: Column<ModelSums>[] = [
    { title: t('element'), cell: (one) => one.elementId },
    { title: t('agents.model'), wide: true, cell: (one) => one.model },
    { title: t('nav.instances'), cell: (one) => number(one.processInstances) },
    { title: t('agents.count'), cell: (one) => <Calls of={one} /> },
    { title: t('agents.used'), cell: (one) => tokens(one) },
    { title: t('agents.cost'), cell: (one) => money(one) },
  ];
  const problem = found.problem.value;
  const items = found.data.value ?? [];
  if (!problem && !items.length) return null;
  return (
    <section>
      <h2>{t('agents.calls')}</h2>
      {problem && <ProblemBox problem={problem} retry={found.reload} />}
      {items.length > 0 && (
        <Table
          label={t('agents.calls')}
          columns={columns}
          items={items}
          id={(one) => `${one.elementId} ${one.model} ${one.currency}`}
        />
      )}
    </section>
  );
}
