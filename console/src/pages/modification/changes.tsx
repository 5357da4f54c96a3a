// The collected changes of a modification, each with its variables, its scope, and what the server finds wrong with it.
import { useId } from 'preact/hooks';
import type { ElementProblem } from '../../lib/api.ts';
import { t } from '../../lib/i18n.ts';
import { variablesOf } from '../../lib/json.ts';
import type { FlowNode } from '../../lib/operations/flow_nodes.ts';
import { type Change, liveInstances } from '../../lib/operations/modification.ts';
import { useResource } from '../../lib/resource.ts';
import { when } from '../../lib/time.ts';
import { JsonArea } from '../../parts/json_area.tsx';
import { Problems } from '../operations/problems.tsx';
import { type Plan, unstage } from './plan.ts';

const MOST_SCOPES = 100;
type Named = (id: string) => string;

function sentence({ source, target }: Change, name: Named): string {
  const from = source && `${name(source.id)}${source.key ? ` (${source.key})` : ''}`;
  if (!from) return t('modify.begins', { target: name(target!) });
  return target ? t('modify.moves', { source: from, target: name(target) }) : t('modify.ends', { source: from });
}

type MoreProps = { instance: string; change: Change; node: FlowNode; name: Named; open: boolean };

/** The settings that few changes need: variables, and one of several scopes. */
function More({ instance, change, node, name, open }: MoreProps) {
  const { scopes } = node;
  const live = useResource(
    scopes.length ? `scopes ${instance} ${scopes.join()}` : '',
    (abort) => liveInstances(instance, { $in: scopes }, MOST_SCOPES, abort),
    [`instance:${instance}`],
  ).data.value?.items;
  const id = useId();
  return (
    <details class="commands" open={open}>
      <summary>{t('modify.more')}</summary>
      {live && live.length > 0 && (
        <label class="area" for={`${id}-in`}>
          {t('modify.ancestor')}
          <select
            id={`${id}-in`}
            value={change.ancestor.value}
            onChange={(event) => {
              change.ancestor.value = event.currentTarget.value;
            }}
          >
            <option value="">{t('modify.serverChooses')}</option>
            {live.map((one) => (
              <option key={one.elementInstanceKey} value={one.elementInstanceKey}>
                {`${name(one.elementId)} · ${one.elementInstanceKey} · ${when(one.startDate)}`}
              </option>
            ))}
          </select>
        </label>
      )}
      <JsonArea
        label={t('modify.variables')}
        text={change.variables}
        rows={3}
        placeholder='{"name": "…"}'
        problem={variablesOf(change.variables.value).problem}
      />
      <label class="area" for={`${id}-set`}>
        {t('modify.scope')}
        <select
          id={`${id}-set`}
          value={change.scope.value}
          onChange={(event) => {
            change.scope.value = event.currentTarget.value;
          }}
        >
          <option value="">{t('instance')}</option>
          {[node.id, ...scopes].map((scope) => (
            <option key={scope} value={scope}>
              {name(scope)}
            </option>
          ))}
        </select>
      </label>
    </details>
  );
}

/** The changes in words. */
export const Sentences = ({ of, name }: { of: readonly Change[]; name: Named }) => (
  <ul>
    {of.map((change) => (
      <li key={change.number}>{sentence(change, name)}</li>
    ))}
  </ul>
);

type ChangesProps = { instance: string; plan: Plan; nodes: ReadonlyMap<string, FlowNode>; name: Named };

export function Changes({ instance, plan, nodes, name }: ChangesProps) {
  const changes = plan.changes.value;
  const problems = plan.problems.value;
  const of = ({ source, target }: Change): ElementProblem[] =>
    problems.filter(({ elementId }) => elementId !== null && (elementId === target || elementId === source?.id));
  const others = problems.filter((one) => !changes.some((change) => of(change).includes(one)));
  if (!changes.length) return <p class="dim">{t('modify.none')}</p>;
  return (
    <>
      <ol class="changes" aria-label={t('modify.changes')}>
        {changes.map((change) => (
          <li key={change.number}>
            <span class="row">
              {sentence(change, name)}{' '}
              <button type="button" class="link" onClick={() => unstage(plan, change)}>
                {t('modify.remove')}
                <span class="sr"> {sentence(change, name)}</span>
              </button>
            </span>
            <Problems of={of(change)} />
            {change.target && nodes.has(change.target) && (
              <More
                instance={instance}
                change={change}
                node={nodes.get(change.target)!}
                name={name}
                open={of(change).length > 0}
              />
            )}
          </li>
        ))}
      </ol>
      <Problems of={others} />
    </>
  );
}
