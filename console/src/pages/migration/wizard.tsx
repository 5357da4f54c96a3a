// The wizard of a migration between two definitions: two diagrams, the mappings between them, a preview, and the act.
import { useComputed, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { Canvas } from '../../diagram/canvas.tsx';
import type { Diagram } from '../../diagram/diagram.ts';
import type { Marks } from '../../diagram/marks.ts';
import type { ElementProblem } from '../../lib/api.ts';
import { number, t } from '../../lib/i18n.ts';
import { modelOf } from '../../lib/models.ts';
import { flowNodesOf } from '../../lib/operations/flow_nodes.ts';
import { calledBy, liveOf, suggestionOf } from '../../lib/operations/migration.ts';
import { useResource } from '../../lib/resource.ts';
import type { Definition } from '../../lib/shapes.ts';
import { Divider } from '../../parts/divider.tsx';
import { ProblemBox } from '../../parts/problem.tsx';
import { CalledInstances } from './called.tsx';
import { type Link, Links } from './links.tsx';
import { choose, MappingsTable } from './mappings.tsx';
import { Run } from './run.tsx';

/** `instance`: the only one; null: all that the filter selects. */
export type Subject = { instance: string | null; filter: Record<string, unknown> };
type WizardProps = { from: Definition; to: Definition; subject: Subject };

/** A diagram on one side, with the names of its elements. */
function useSide(definition: Definition) {
  const key = definition.processDefinitionKey;
  const xml = useResource(`xml ${key}`, () => modelOf(key)).data.value;
  const names = useSignal(new Map<string, string>());
  const diagram = useSignal<Diagram | null>(null);
  const told = {
    names: (found: Map<string, string>) => {
      names.value = found;
    },
    made: (drawn: Diagram | null) => {
      diagram.value = drawn;
    },
  };
  return { xml, diagram, told, name: (id: string) => names.value.get(id) ?? id };
}

export function Wizard({ from, to, subject }: WizardProps) {
  const keys = [from.processDefinitionKey, to.processDefinitionKey] as const;
  const [left, right] = [useSide(from), useSide(to)];
  const plan = useResource(`plan ${keys.join()}`, (abort) => suggestionOf(...keys, abort));
  const live = useResource(
    `live ${keys[0]} ${JSON.stringify(subject)}`,
    (abort) => liveOf(keys[0], subject.instance, subject.filter, abort),
    [subject.instance ? `instance:${subject.instance}` : 'instances'],
  );
  const wanted = useSignal(false);
  const called = useResource(wanted.value ? `called ${keys.join()}` : '', (abort) => calledBy(...keys, abort), [
    'instances',
  ]);
  const edits = useSignal<ReadonlyMap<string, string | null>>(new Map());
  const picked = useSignal<string | null>(null);
  const problems = useSignal<readonly ElementProblem[]>([]);
  const elements = plan.data.value ?? [];
  const tokens = live.data.value ?? new Map<string, number>();
  const mapped = useComputed(() => {
    const found = new Map((plan.data.value ?? []).map((one) => [one.elementId, one.targetElementId]));
    for (const [id, target] of edits.value) found.set(id, target);
    return new Map([...found].filter((pair): pair is [string, string] => pair[1] !== null));
  });
  const mappings = mapped.value;
  const targets = useMemo(() => (right.xml ? flowNodesOf(right.xml, to.processDefinitionId) : []), [right.xml]);
  const unmapped = [...tokens.keys()].filter((id) => !mappings.has(id));
  const marks = useComputed<Marks>(() => {
    const counts = live.data.value ?? new Map<string, number>();
    const wrong = [...counts.keys(), ...problems.value.map(({ elementId }) => elementId ?? '')];
    return {
      elements: new Map([...counts].map(([id, active]) => [id, { active, incidents: 0, completed: 0, canceled: 0 }])),
      flows: new Set(),
      planned: new Map(
        wrong
          .filter((id) => !mapped.value.has(id) || problems.value.some(({ elementId }) => elementId === id))
          .map((id) => [id, { joins: 0, leaves: 0, wrong: true }]),
      ),
    };
  }).value;
  const coming = useComputed<Marks>(() => {
    const joins = new Map<string, number>();
    for (const [id, target] of mapped.value)
      joins.set(target, (joins.get(target) ?? 0) + (live.data.value?.get(id) ?? 0));
    const planned = [...joins]
      .filter(([, n]) => n > 0)
      .map(([id, n]) => [id, { joins: n, leaves: 0, wrong: false }] as const);
    return { elements: new Map(), flows: new Set(), planned: new Map(planned) };
  }).value;
  const links: Link[] = [...mappings]
    .filter(([id]) => tokens.has(id) || id === picked.value)
    .map(([id, target]) => ({ from: id, to: target, strong: id === picked.value }));
  const chosen = picked.value ? (mappings.get(picked.value) ?? null) : null;
  return (
    <div class="split">
      <div class="pair">
        <Canvas
          xml={left.xml}
          process={from.processDefinitionId}
          marks={marks}
          selected={picked.value}
          onSelect={(id) => {
            picked.value = id;
          }}
          {...left.told}
        />
        <Canvas
          xml={right.xml}
          process={to.processDefinitionId}
          marks={coming}
          selected={chosen}
          onSelect={(id) => {
            if (picked.peek()) choose(edits, picked.peek()!, id);
          }}
          {...right.told}
        />
        <Links left={left.diagram.value} right={right.diagram.value} links={links} />
      </div>
      <Divider of="aside" along="x" grows={-1} least={240} most={720} usual={340} />
      <aside aria-label={t('migrate.mappings')}>
        <h2>{t('migrate.mappings')}</h2>
        {plan.problem.value && <ProblemBox problem={plan.problem.value} retry={plan.reload} />}
        {live.problem.value && <ProblemBox problem={live.problem.value} retry={live.reload} />}
        <p class="dim">{t('migrate.hint')}</p>
        {unmapped.length > 0 && (
          <p class="invalid" role="status">
            {t('migrate.unmapped', { n: number(unmapped.length), names: unmapped.map(left.name).join(', ') })}
          </p>
        )}
        <CalledInstances wanted={wanted} found={called} />
        <Run
          from={from}
          to={to}
          subject={subject}
          plan={{ to: keys[1], mappings, called: (wanted.value && called.data.value) || [] }}
          ready={mappings.size > 0 && (!wanted.value || called.data.value !== undefined)}
          problems={problems}
          name={left.name}
        />
        <MappingsTable
          elements={elements}
          live={tokens}
          targetOf={(id) => mappings.get(id) ?? null}
          edits={edits}
          picked={picked}
          targets={targets}
          names={{ from: left.name, to: right.name }}
        />
      </aside>
    </div>
  );
}
