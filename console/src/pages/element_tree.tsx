// The element instances of an instance as a tree: scopes, iterations of loops with their items, and called instances.
import { useSignal } from '@preact/signals';
import { get, search } from '../lib/api.ts';
import { jsonText } from '../lib/filters.ts';
import { t } from '../lib/i18n.ts';
import { type Growing, useGrowing } from '../lib/pages.ts';
import { useResource } from '../lib/resource.ts';
import { href, put, query } from '../lib/router.ts';
import type { ElementInstance, Instance, Page, Variable } from '../lib/shapes.ts';
import { between } from '../lib/time.ts';
import { Check } from '../parts/check.tsx';
import { ProblemBox } from '../parts/problem.tsx';
import { Rest } from '../parts/rest.tsx';
import { State } from '../parts/state.tsx';
import { Time } from '../parts/time.tsx';

const SIZE = 20;
const BODY = 'MULTI_INSTANCE_BODY';
const COUNTER = 'loopCounter';
const ITEM = 60;
const SCOPES = [BODY, 'SUB_PROCESS', 'EVENT_SUB_PROCESS', 'AD_HOC_SUB_PROCESS', 'AD_HOC_SUB_PROCESS_INNER_INSTANCE'];
const OLDEST = [{ field: 'elementInstanceKey', order: 'ASC' as const }];
const NEWEST = [{ field: 'elementInstanceKey', order: 'DESC' as const }];

type TreeProps = { instance: string; loops: ReadonlyMap<string, string | null>; name: (id: string) => string };

/** The element instance that the URL selects. */
export const selectedScope = (): string | null => query.value.get('scope');

/** The items of iterations: the counter, and the beginning of the item. */
function useItems(rows: readonly ElementInstance[], of: string | null, loops: TreeProps['loops']) {
  const keys = rows.map((row) => row.elementInstanceKey);
  const item = of === null ? null : loops.get(of);
  const found = useResource<Page<Variable>>(of !== null && keys.length ? `items ${keys.join()}` : '', (abort) => {
    const filter = { scopeKey: { $in: keys }, name: { $in: item ? [COUNTER, item] : [COUNTER] } };
    return search<Variable>('variables', { filter, page: { limit: keys.length * 2 } }, abort);
  });
  const texts = new Map<string, string>();
  for (const { name, value, scopeKey } of found.data.value?.items ?? []) {
    const other = texts.get(scopeKey) ?? '';
    const text = value.length > ITEM ? `${value.slice(0, ITEM)}…` : value;
    texts.set(scopeKey, (name === COUNTER ? `#${value} ${other}` : `${other} ${text}`).trim());
  }
  return { texts, problem: found.problem.value };
}

type Called = ReadonlyMap<string, Instance>;

/** The instances that the call activities among the rows have called, by the rows' keys: each calls once. One request for all of them. */
function useCalled(rows: readonly ElementInstance[], instance: string): Called {
  const keys = rows.filter(({ type }) => type === 'CALL_ACTIVITY').map((row) => row.elementInstanceKey);
  const found = useResource<Page<Instance>>(
    keys.length ? `called ${keys.join()}` : '',
    (abort) => {
      const filter = { parentElementInstanceKey: { $in: keys } };
      return search<Instance>('process-instances', { filter, page: { limit: keys.length } }, abort);
    },
    [`instance:${instance}`],
  );
  return new Map(found.data.value?.items.map((one) => [one.parentElementInstanceKey ?? '', one]));
}

const CalledInstance = ({ of }: { of: Instance }) => (
  <p>
    ↳{' '}
    <a href={href(`/instances/${of.processInstanceKey}`)}>
      {of.processDefinitionName ?? of.processDefinitionId} {of.businessId ?? ''}
    </a>{' '}
    <State of={of.state} incident={of.hasIncident} />
  </p>
);

type NodeProps = { row: ElementInstance; item: string | undefined; called: Instance | undefined; tree: TreeProps };

function Node({ row, item, called, tree }: NodeProps) {
  const open = useSignal(false);
  const key = row.elementInstanceKey;
  const isScope = SCOPES.includes(row.type);
  const isLoop = row.type === BODY;
  const label = `${tree.name(row.elementId)}${isLoop ? ` · ${t('tree.loop')}` : ''}`;
  return (
    <li>
      <div class="row">
        {isScope && (
          <button
            type="button"
            class="quiet"
            aria-expanded={open.value}
            aria-label={`${t('tree.inside')}: ${label} ${item ?? ''}`}
            onClick={() => {
              open.value = !open.value;
            }}
          >
            {open.value ? '▾' : '▸'}
          </button>
        )}
        <button
          type="button"
          class="link"
          aria-current={selectedScope() === key ? 'true' : undefined}
          onClick={() => put({ element: row.elementId, scope: key })}
        >
          {item ? <code>{item}</code> : label}
        </button>{' '}
        <State of={row.state} incident={row.hasIncident} />{' '}
        <span class="dim">
          <Time at={row.startDate} /> {row.endDate && between(row.startDate, row.endDate)}
        </span>
      </div>
      {called && <CalledInstance of={called} />}
      {open.value && <Level tree={tree} within={key} loop={isLoop ? row.elementId : null} />}
    </li>
  );
}

function Rows({ found, tree, loop }: { found: Growing<ElementInstance>; tree: TreeProps; loop: string | null }) {
  const page = found.data.value;
  const items = useItems(page?.items ?? [], loop, tree.loops);
  const called = useCalled(page?.items ?? [], tree.instance);
  if (found.problem.value) return <ProblemBox problem={found.problem.value} retry={found.reload} />;
  if (!page) return <p class="dim loading">{t('loading')}</p>;
  return (
    <>
      {page.items.length ? (
        <ul class="tree">
          {page.items.map((row) => (
            <Node
              key={row.elementInstanceKey}
              row={row}
              item={items.texts.get(row.elementInstanceKey)}
              called={called.get(row.elementInstanceKey)}
              tree={tree}
            />
          ))}
        </ul>
      ) : (
        <p class="dim">{t('tree.none')}</p>
      )}
      {items.problem && <ProblemBox problem={items.problem} />}
      <Rest count="count.elements" page={page} steps={found} />
    </>
  );
}

/** The element instances directly within a scope. `loop`: the element, if they are its iterations. */
function Level({ tree, within, loop }: { tree: TreeProps; within: string; loop: string | null }) {
  const filter = { processInstanceKey: tree.instance, elementInstanceScopeKey: within };
  const found = useGrowing<ElementInstance>('element-instances', filter, OLDEST, SIZE, [`instance:${tree.instance}`]);
  return <Rows found={found} tree={tree} loop={loop} />;
}

/** The element instances that have a variable with this value: the item of an iteration, or its number. */
function Having({ tree, text }: { tree: TreeProps; text: string }) {
  const found = useResource<Page<ElementInstance>>(`having ${tree.instance} ${text}`, async (abort) => {
    const filter = { processInstanceKey: tree.instance, value: jsonText(text), scopeKey: { $neq: tree.instance } };
    const variables = await search<Variable>('variables', { filter, page: { limit: SIZE } }, abort);
    const keys = [...new Set(variables.items.map(({ scopeKey }) => scopeKey))];
    const items = await Promise.all(keys.map((key) => get<ElementInstance>(`/v2/element-instances/${key}`, abort)));
    return { items, page: variables.page };
  });
  const loop = found.data.value?.items.find(({ elementId }) => tree.loops.has(elementId))?.elementId ?? null;
  return <Rows found={{ ...found, more: null, first: null, skipped: 0 }} tree={tree} loop={loop} />;
}

/** The element instances with an incident, in whatever scope: those of the whole instance, or of one element. */
function Stuck({ tree, of }: { tree: TreeProps; of: string | null }) {
  const filter = { processInstanceKey: tree.instance, hasIncident: true, ...(of !== null && { elementId: of }) };
  const found = useGrowing<ElementInstance>('element-instances', filter, OLDEST, SIZE, [`instance:${tree.instance}`]);
  return <Rows found={found} tree={tree} loop={of !== null && tree.loops.has(of) ? of : null} />;
}

/** All element instances of an instance, or those of an element. */
export function ElementTree({ of, ...tree }: TreeProps & { of: string | null }) {
  const text = useSignal('');
  const stuck = useSignal(false);
  const isLoop = of !== null && tree.loops.has(of);
  const filter = { processInstanceKey: tree.instance, elementId: of, ...(isLoop && { type: BODY }) };
  const runs = useGrowing<ElementInstance>('element-instances', of === null ? null : filter, NEWEST, SIZE, [
    `instance:${tree.instance}`,
  ]);
  return (
    <>
      <h3>{t(of === null ? 'tree.title' : 'runs')}</h3>
      <input
        type="search"
        placeholder={t('tree.find')}
        aria-label={t('tree.find')}
        value={text.value}
        onChange={(event) => {
          text.value = event.currentTarget.value.trim();
        }}
      />
      <Check value={stuck}>{t('tree.stuck')}</Check>
      {text.value ? (
        <Having tree={tree} text={text.value} />
      ) : stuck.value ? (
        <Stuck tree={tree} of={of} />
      ) : of === null ? (
        <Level tree={tree} within={tree.instance} loop={null} />
      ) : (
        <Rows found={runs} tree={tree} loop={null} />
      )}
    </>
  );
}
