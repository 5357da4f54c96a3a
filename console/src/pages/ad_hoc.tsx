// Ad-hoc sub-processes: what can be activated in them, the action that does it, and what each activation began.

import { useSignal } from '@preact/signals';
import type { Element, View } from '../history/fold.ts';
import { aroundInner, INNER } from '../lib/ad_hoc.ts';
import { search, send } from '../lib/api.ts';
import { argument, type Command, variablesOption } from '../lib/commands.ts';
import { t } from '../lib/i18n.ts';
import { parsed, variablesOf } from '../lib/json.ts';
import { UPDATE_INSTANCE } from '../lib/session.ts';
import type { ElementInstance, Page, Variable } from '../lib/shapes.ts';
import { Act } from '../parts/act.tsx';
import { ActionDialog } from '../parts/action.tsx';
import { Check } from '../parts/check.tsx';
import { JsonArea } from '../parts/json_area.tsx';
import { State } from '../parts/state.tsx';

const ELEMENTS = 'adHocSubProcessElements';
const MOST = 20;
const SHOWN_ACTIVATIONS = 20;

type Activatable = {
  elementId: string;
  elementName?: string | null;
  documentation?: string | null;
  parameters?: { name: string; description?: string | null }[];
};
/** An active ad-hoc sub-process, with the elements that can be activated in it. */
export type AdHoc = { key: string; id: string; process: string; elements: Activatable[] };

/** Whether a model has ad-hoc sub-processes: instances of others need no further requests. */
export const hasAdHoc = (xml: string): boolean => /<(?:[\w.-]+:)?adHocSubProcess[\s>]/.test(xml);

function elementsIn(value: string): Activatable[] {
  const found = parsed(value).value;
  return Array.isArray(found) ? found.filter((one) => typeof one?.elementId === 'string') : [];
}

export async function loadAdHocs(instance: string, abort: AbortSignal): Promise<AdHoc[]> {
  const active = await search<ElementInstance>(
    'element-instances',
    {
      filter: { processInstanceKey: instance, type: 'AD_HOC_SUB_PROCESS', state: 'ACTIVE' },
      sort: [{ field: 'startDate', order: 'DESC' }],
      page: { limit: MOST },
    },
    abort,
  );
  if (!active.items.length) return [];
  const scopes = active.items.map((one) => one.elementInstanceKey);
  const variables = await send<Page<Variable>>(
    {
      method: 'POST',
      path: '/v2/variables/search?truncateValues=false',
      body: { filter: { name: ELEMENTS, scopeKey: { $in: scopes } }, page: { limit: MOST } },
    },
    abort,
  );
  const values = new Map(variables.body.items.map(({ scopeKey, value }) => [scopeKey, value]));
  return active.items.map((one) => ({
    key: one.elementInstanceKey,
    id: one.elementId,
    process: one.processDefinitionId,
    elements: elementsIn(values.get(one.elementInstanceKey) ?? ''),
  }));
}

const hintOf = (elements: readonly Activatable[]): string =>
  JSON.stringify(Object.fromEntries(elements.flatMap((one) => one.parameters ?? []).map(({ name }) => [name, '…'])));

type DialogProps = { of: AdHoc; title: string; first: string | null; onClose: () => void };

function ActivationDialog({ of, title, first, onClose }: DialogProps) {
  const chosen = useSignal<readonly string[]>(first ? [first] : []);
  const text = useSignal('');
  const cancels = useSignal(false);
  const found = variablesOf(text.value);
  const variables = found.value ?? {};
  const ids = of.elements.map((one) => one.elementId).filter((id) => chosen.value.includes(id));
  const toggle = (id: string): void => {
    const others = chosen.value.filter((each) => each !== id);
    chosen.value = others.length < chosen.value.length ? others : [...others, id];
  };
  const command: Command = {
    method: 'POST',
    path: `/v2/element-instances/ad-hoc-activities/${of.key}/activation`,
    body: {
      elements: ids.map((elementId) => ({ elementId, variables })),
      cancelRemainingInstances: cancels.value,
    },
    cli: `activate ${[of.key, ...ids.map(argument)].join(' ')}${variablesOption(variables)}${cancels.value ? ' --cancel-remaining' : ''}`,
  };
  return (
    <ActionDialog
      title={title}
      button={t('adHoc.activate')}
      commands={[command]}
      invalid={ids.length ? found.problem : t('adHoc.choose')}
      onClose={onClose}
    >
      <fieldset class="checks">
        <legend>{t('adHoc.elements')}</legend>
        {of.elements.map((one) => (
          <label key={one.elementId} class="check" title={one.documentation ?? undefined}>
            <input
              type="checkbox"
              checked={chosen.value.includes(one.elementId)}
              onChange={() => toggle(one.elementId)}
            />{' '}
            {one.elementName || one.elementId}
          </label>
        ))}
      </fieldset>
      <JsonArea
        label={t('adHoc.variables')}
        text={text}
        rows={4}
        placeholder={hintOf(of.elements.filter((one) => ids.includes(one.elementId)))}
      />
      <Check value={cancels}>{t('adHoc.cancelRemaining')}</Check>
    </ActionDialog>
  );
}

/** The elements to activate: in the selected sub-process, the selected element itself, or without a selection in all. */
export function AdHocCards({ of, selected, name }: { of: AdHoc[]; selected: string | null; name: Named }) {
  const open = useSignal<AdHoc | null>(null);
  const within = (one: AdHoc): boolean => one.elements.some(({ elementId }) => elementId === selected);
  const shown = of.filter((one) => !selected || one.id === (aroundInner(selected) ?? selected) || within(one));
  return (
    <>
      {shown.map((one) => (
        <div key={one.key} class="card">
          <p>
            {selected && within(one)
              ? t('adHoc.canActivate', { name: name(one.id) })
              : t('adHoc.waits', {
                  name: name(one.id),
                  elements: one.elements.map((e) => name(e.elementId)).join(', '),
                })}
          </p>
          <Act
            need={UPDATE_INSTANCE}
            of={one.process}
            onClick={() => {
              open.value = one;
            }}
          >
            {t('adHoc.activate')} …
          </Act>
        </div>
      ))}
      {open.value && (
        <ActivationDialog
          of={open.value}
          title={t('adHoc.activateIn', { name: name(open.value.id) })}
          first={within(open.value) ? selected : null}
          onClose={() => {
            open.value = null;
          }}
        />
      )}
    </>
  );
}

type Named = (id: string) => string;
/** The state of an element of the history, as a word of `State`. */
export const stateOf = (element: Element): string =>
  element.open
    ? 'INCIDENT'
    : element.state === 'active'
      ? 'ACTIVE'
      : element.state === 'completed'
        ? 'COMPLETED'
        : 'CANCELED';

/** The activations of the selected ad-hoc sub-process, the latest first: their elements, and how far they are. */
export function Activations({ view, selected, name }: { view: View; selected: string; name: Named }) {
  const id = `${aroundInner(selected) ?? selected}${INNER}`;
  const inner = [...view.elements.values()].filter((element) => element.id === id);
  if (!inner.length) return null;
  const inside = (key: string) => [...view.elements.values()].filter(({ above }) => above === key);
  return (
    <>
      <h3>{t('adHoc.activations', { n: inner.length })}</h3>
      <table class="small">
        <tbody>
          {inner
            .slice(-SHOWN_ACTIVATIONS)
            .reverse()
            .map((one) => (
              <tr key={one.key}>
                <td>
                  <State of={stateOf(one)} />
                </td>
                <td>
                  {inside(one.key).map((element) => (
                    <div key={element.key}>
                      {name(element.id)} <State of={stateOf(element)} />
                    </div>
                  ))}
                </td>
              </tr>
            ))}
        </tbody>
      </table>
    </>
  );
}
