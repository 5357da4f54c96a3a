// Compensation of an instance: what has been undone, what is being undone, and what would be, in this order.
import { useSignal } from '@preact/signals';
import type { View } from '../history/fold.ts';
import { type CompensationModel, liveScopes, type Reach, type Registered, registeredIn } from '../lib/compensation.ts';
import { t } from '../lib/i18n.ts';
import { useResource } from '../lib/resource.ts';
import { State } from '../parts/state.tsx';
import { stateOf } from './ad_hoc.tsx';

const SHOWN_RUNS = 20;
type Named = (id: string) => string;
type LevelProps = {
  instance: string;
  scopes: readonly string[];
  only: string | null;
  model: CompensationModel;
  name: Named;
};

const isLeft = (one: Registered): boolean =>
  one.handlerId !== null || one.state === 'RUNNING' || Object.keys(one.inside).length > 0;

function Entry({ of, ...rest }: LevelProps & { of: Registered }) {
  const open = useSignal(false);
  const { model, name } = rest;
  const inside = Object.values(of.inside).reduce((sum, n) => sum + n, 0);
  return (
    <li>
      {name(of.elementId)}
      {of.handlerId && <span class="dim"> ← {name(model.handlerOf(of.handlerId))}</span>}{' '}
      {of.state === 'RUNNING' && <State of="ACTIVE" />}
      {inside > 0 && of.state !== 'RUNNING' && (
        <details
          onToggle={(event) => {
            open.value = event.currentTarget.open;
          }}
        >
          <summary>{t('compensation.inside', { n: inside })}</summary>
          {open.value && <Level {...rest} scopes={[of.elementInstanceKey]} only={null} />}
        </details>
      )}
    </li>
  );
}

/** The registered activities of scopes, page by page. */
function Level(props: LevelProps) {
  const { instance, scopes, only } = props;
  const place = useSignal<{ after: string | null; from: number }>({ after: null, from: 0 });
  const { after, from } = place.value;
  const page = useResource(
    `compensations ${scopes.join()} ${only} ${after}`,
    (abort) => registeredIn(instance, scopes, only, after, abort),
    [`instance:${instance}`],
  ).data.value;
  if (!page) return <p class="dim loading">{t('loading')}</p>;
  if (!page.items.length && !from) return <p class="dim">{t('compensation.none')}</p>;
  const { next, items } = page;
  return (
    <>
      <ol class="numbered" start={from + 1}>
        {items.filter(isLeft).map((one) => (
          <Entry key={one.compensationKey} of={one} {...props} />
        ))}
      </ol>
      <div class="row">
        {from > 0 && (
          <button
            type="button"
            onClick={() => {
              place.value = { after: null, from: 0 };
            }}
          >
            {t('compensation.first')}
          </button>
        )}
        {next && (
          <button
            type="button"
            onClick={() => {
              place.value = { after: next, from: from + items.length };
            }}
          >
            {t('compensation.next')}
          </button>
        )}
      </div>
    </>
  );
}

type RunsProps = { view: View; reach: Reach; selected: string | null; instance: string; name: Named };

/** Handlers that have run or are running, as the history knows: of one throw event, else of all in the scope. */
function Runs({ view, reach, selected, instance, name }: RunsProps) {
  const idOf = (key: string | null | undefined): string | null =>
    key === instance ? null : ((key && view.elements.get(key)?.id) ?? '');
  const runs = [...view.compensations.values()].filter(({ handler, thrower }) =>
    reach.throws
      ? thrower !== null && idOf(thrower) === selected
      : handler && reach.scopes.includes(idOf(handler.above)),
  );
  return (
    <ul>
      {runs.slice(-SHOWN_RUNS).map(
        ({ key, activity, handler }) =>
          handler && (
            <li key={key}>
              <State of={stateOf(handler)} /> {name(activity)}
              <span class="dim"> ← {name(handler.id)}</span>
            </li>
          ),
      )}
    </ul>
  );
}

export type CompensationProps = {
  instance: string;
  model: CompensationModel;
  selected: string | null;
  /** Whether the instance is shown as it is now, and goes on. */
  live: boolean;
  view: View;
  name: Named;
};

export function Compensation({ instance, model, selected, live, view, name }: CompensationProps) {
  const reach = model.reachOf(selected);
  const scopes = useResource(
    reach && live ? `scopes ${instance} ${selected}` : '',
    (abort) => liveScopes(instance, reach!, abort),
    [`instance:${instance}`],
  ).data.value;
  if (!reach) return null;
  return (
    <>
      <h3>{t('compensation')}</h3>
      <Runs view={view} reach={reach} selected={selected} instance={instance} name={name} />
      {live && scopes && scopes.length > 0 && (
        <>
          <p class="dim">{t('compensation.would')}</p>
          <Level key={scopes.join()} instance={instance} scopes={scopes} only={reach.only} model={model} name={name} />
        </>
      )}
    </>
  );
}
