// The selected element while an instance is modified: what can be done with its tokens, without a pointer, too.
import { number, t } from '../../lib/i18n.ts';
import { pageKey } from '../../lib/keys.ts';
import type { FlowNode } from '../../lib/operations/flow_nodes.ts';
import { liveInstances, type Source } from '../../lib/operations/modification.ts';
import { useResource } from '../../lib/resource.ts';
import type { ElementInstance, Page } from '../../lib/shapes.ts';
import { Time } from '../../parts/time.tsx';
import { type Plan, stage } from './plan.ts';

const SHOWN = 50;
type Named = (id: string) => string;

/** Choose where the tokens go: in the diagram, or here. */
function Aim({ plan, source, nodes, name }: { plan: Plan; source: Source; nodes: FlowNode[]; name: Named }) {
  const stop = () => {
    plan.aiming.value = null;
  };
  pageKey('Escape', stop);
  return (
    <div
      class="card"
      role="group"
      aria-label={t('modify.aim', { name: name(source.id) })}
      onKeyDown={(event) => {
        if (event.key === 'Escape') stop();
      }}
    >
      <label class="area">
        {t('modify.aim', { name: name(source.id) })}
        <select
          ref={(select) => select?.focus()}
          value=""
          onChange={(event) => stage(plan, source, event.currentTarget.value)}
        >
          <option value="" disabled>
            {t('modify.choose')}
          </option>
          {nodes
            .filter(({ id, isTarget }) => isTarget && id !== source.id)
            .map(({ id }) => (
              <option key={id} value={id}>
                {name(id) === id ? id : `${name(id)} (${id})`}
              </option>
            ))}
        </select>
      </label>
      <p class="dim">{t('modify.aimNote')}</p>
      <button type="button" onClick={stop}>
        {t('cancel')}
      </button>
    </div>
  );
}

type TokensProps = { plan: Plan; source: Source; label: string; movable: boolean };

/** `movable`: there is another element that the tokens can go to. */
function Tokens({ plan, source, label, movable }: TokensProps) {
  return (
    <>
      {movable && (
        <button
          type="button"
          onClick={() => {
            plan.aiming.value = source;
          }}
        >
          {t('modify.moveTo')} …<span class="sr"> {label}</span>
        </button>
      )}
      <button type="button" onClick={() => stage(plan, source, null)}>
        {t('modify.terminate')}
        <span class="sr"> {label}</span>
      </button>
    </>
  );
}

/** Each of several instances of an element by itself. */
function Single({ plan, page, movable }: { plan: Plan; page: Page<ElementInstance>; movable: boolean }) {
  if (page.items.length < 2) return null;
  return (
    <details class="commands">
      <summary>{t('modify.single')}</summary>
      <table class="small">
        <tbody>
          {page.items.map((one) => (
            <tr key={one.elementInstanceKey}>
              <th scope="row">
                <code>{one.elementInstanceKey}</code> <Time at={one.startDate} />
              </th>
              <td>
                <Tokens
                  plan={plan}
                  source={{ id: one.elementId, key: one.elementInstanceKey }}
                  label={one.elementInstanceKey}
                  movable={movable}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {page.page.endCursor && page.items.length === SHOWN && <p class="dim">{t('modify.singleMore', { n: SHOWN })}</p>}
    </details>
  );
}

type SelectedProps = {
  instance: string;
  plan: Plan;
  selected: string | null;
  nodes: ReadonlyMap<string, FlowNode>;
  active: number;
  name: Named;
};

export function Selected({ instance, plan, selected, nodes, active, name }: SelectedProps) {
  const live = useResource(
    selected && active > 1 ? `live ${instance} ${selected}` : '',
    (abort) => liveInstances(instance, selected, SHOWN, abort),
    [`instance:${instance}`],
  ).data.value;
  const source = plan.aiming.value;
  if (source) return <Aim plan={plan} source={source} nodes={[...nodes.values()]} name={name} />;
  if (!selected) return <p class="dim">{t('modify.hint')}</p>;
  const isTarget = nodes.get(selected)?.isTarget ?? false;
  const movable = [...nodes.values()].some((node) => node.isTarget && node.id !== selected);
  return (
    <div class="card">
      <h3>
        {name(selected)} <span class="dim">{t('modify.active', { n: number(active) })}</span>
      </h3>
      <div class="row">
        {active > 0 && (
          <Tokens plan={plan} source={{ id: selected, key: null }} label={name(selected)} movable={movable} />
        )}
        {isTarget && (
          <button type="button" onClick={() => stage(plan, null, selected)}>
            {t('modify.activate')}
            <span class="sr"> {name(selected)}</span>
          </button>
        )}
      </div>
      {!active && !isTarget && <p class="dim">{t('modify.nothing')}</p>}
      {live && <Single plan={plan} page={live} movable={movable} />}
    </div>
  );
}
