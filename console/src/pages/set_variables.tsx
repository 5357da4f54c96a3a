// Variables are set: one in its row, typed, or several of a scope as JSON. What would change is shown before it is sent.
import { type Signal, useSignal } from '@preact/signals';
import { get, search } from '../lib/api.ts';
import { argument, type Command } from '../lib/commands.ts';
import { type Key, t } from '../lib/i18n.ts';
import { versionOf } from '../lib/instance.ts';
import { exact, parsed, pretty, variablesOf } from '../lib/json.ts';
import { useResource } from '../lib/resource.ts';
import type { Instance, Page, Variable } from '../lib/shapes.ts';
import { ActionForm, type Checked } from '../parts/action.tsx';
import { differences } from '../parts/conflict.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { JsonArea } from '../parts/json_area.tsx';
import { ProblemBox } from '../parts/problem.tsx';
import { Rest } from '../parts/rest.tsx';

/** Names of variables → their values as compact JSON. */
type Values = Record<string, string>;

const TYPES: Record<string, Key> = {
  text: 'variables.text',
  number: 'variables.number',
  boolean: 'variables.boolean',
  json: 'variables.other',
  null: 'variables.null',
};
const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
const MOST = 500;

const compact = (json: string): string => JSON.stringify(exact(json));
const compacted = (values: Record<string, unknown>): Values =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, JSON.stringify(value)]));

/** The type of a value, and the text in which people edit it. */
function typed(json: string): { type: string; text: string } {
  const value = exact(json);
  if (typeof value === 'string') return { type: 'text', text: value };
  if (NUMBER.test(json)) return { type: 'number', text: json };
  if (value === null) return { type: 'null', text: '' };
  return typeof value === 'boolean' ? { type: 'boolean', text: json } : { type: 'json', text: pretty(json) };
}

/** The value that was typed, as an exact one of `lib/json`; else why it is none of its type. */
function entered(type: string, text: string): { value?: unknown; problem: string | null } {
  if (type === 'text') return { value: text, problem: null };
  if (type === 'null') return { value: null, problem: null };
  if (type === 'number' && !NUMBER.test(text.trim())) return { problem: t('variables.noNumber') };
  return parsed(text);
}

/** The present values of some variables of a scope. */
async function valuesOf(scope: string, names: readonly string[]): Promise<Values> {
  const filter = { scopeKey: scope, name: { $in: names } };
  const found = await search<Variable>('variables', { filter, page: { limit: names.length } });
  const whole = await Promise.all(
    found.items.map((one) => (one.isTruncated ? get<Variable>(`/v2/variables/${one.variableKey}`) : one)),
  );
  return Object.fromEntries(whole.map(({ name, value }) => [name, compact(value)]));
}

type ScopeProps = { instance: Instance; scope: string; local?: boolean };
type ChangeProps = ScopeProps & { before: Values; after: Record<string, unknown> };

/** The values of `after` that are others than before, their command, and the check that nobody changed them meanwhile. */
function changeOf({ instance, scope, before, after, local = false }: ChangeProps) {
  const wanted = compacted(after);
  const names = Object.keys(wanted).filter((name) => wanted[name] !== before[name]);
  const variables = Object.fromEntries(names.map((name) => [name, after[name]]));
  const mine = Object.fromEntries(names.map((name) => [name, wanted[name]!]));
  const command: Command = {
    method: 'PUT',
    path: `/v2/element-instances/${scope}/variables`,
    body: { variables, ...(local && { local }) },
    cli: `set ${scope} --variables ${argument(JSON.stringify(variables))}${local ? ' --local' : ''}`,
  };
  const check = async (): Promise<Checked> => {
    const version = await versionOf(instance);
    return { differences: differences(before, await valuesOf(scope, names), mine), version };
  };
  return { mine, commands: [command], check, idle: !names.length };
}

function Changes({ before, mine }: { before: Values; mine: Values }) {
  const names = Object.keys(mine);
  if (!names.length) return <p class="dim">{t('variables.unchanged')}</p>;
  return (
    <table class="small changes" aria-label={t('variables.changes')}>
      <tbody>
        {names.map((name) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            <td>
              {Object.hasOwn(before, name) ? <del>{before[name]}</del> : <span class="dim">{t('variables.new')}</span>}
            </td>
            <td>
              <ins>{mine[name]}</ins>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type TypedProps = { name: string; type: Signal<string>; text: Signal<string> };

function TypedValue({ name, type, text }: TypedProps) {
  const label = t('variables.value', { name });
  const change = (event: Event) => {
    text.value = (event.currentTarget as HTMLTextAreaElement).value;
  };
  const retype = (event: Event) => {
    type.value = (event.currentTarget as HTMLSelectElement).value;
    if (type.value === 'boolean' && text.value !== 'false') text.value = 'true';
  };
  return (
    <>
      <select aria-label={t('variables.type')} value={type.value} onChange={retype}>
        {Object.entries(TYPES).map(([value, key]) => (
          <option key={value} value={value}>
            {t(key)}
          </option>
        ))}
      </select>
      {type.value === 'boolean' && (
        <select aria-label={label} value={text.value} onChange={change}>
          <option>true</option>
          <option>false</option>
        </select>
      )}
      {type.value === 'number' && <input aria-label={label} inputMode="decimal" value={text.value} onInput={change} />}
      {['text', 'json'].includes(type.value) && (
        <textarea
          aria-label={label}
          class={type.value}
          rows={Math.min(12, text.value.split('\n').length + 1)}
          spellcheck={false}
          value={text.value}
          onInput={change}
        />
      )}
    </>
  );
}

type EditProps = ScopeProps & { name: string; value: string; onClose: () => void };

/** Edit one variable where it stands. `value`: the whole of it, as it was when that began. */
export function EditVariable({ name, value, onClose, ...of }: EditProps) {
  const first = useSignal(typed(value)).value;
  const before = useSignal({ [name]: compact(value) }).value;
  const type = useSignal(first.type);
  const text = useSignal(first.text);
  const found = entered(type.value, text.value);
  const after = found.problem === null ? { [name]: found.value } : {};
  const { mine, ...action } = changeOf({ ...of, before, after });
  return (
    <ActionForm
      title={t('variables.set')}
      button={t('variables.set')}
      {...action}
      invalid={found.problem}
      onClose={onClose}
    >
      <TypedValue name={name} type={type} text={text} />
      <Changes before={before} mine={mine} />
    </ActionForm>
  );
}

function SetThese({ page, onClose, ...of }: ScopeProps & { page: Page<Variable>; onClose: () => void }) {
  const whole = page.items.filter((one) => !one.isTruncated);
  const before = useSignal(Object.fromEntries(whole.map(({ name, value }) => [name, compact(value)]))).value;
  const text = useSignal(pretty(`{${whole.map((one) => `${JSON.stringify(one.name)}: ${one.value}`).join()}}`));
  const found = variablesOf(text.value);
  const { mine, ...action } = changeOf({ ...of, before, after: found.value ?? {} });
  return (
    <ActionForm
      title={t('variables.set')}
      button={t('variables.set')}
      {...action}
      invalid={found.problem}
      onClose={onClose}
    >
      <JsonArea label={t('variables.json')} text={text} rows={10} />
      <p class="dim">{t('variables.left')}</p>
      <Rest count="count.variables" page={page} shown={whole.length} />
      <Changes before={before} mine={mine} />
    </ActionForm>
  );
}

/** Set variables of a scope: those that it has, unless they are very long, and others. */
export function SetVariables({ onClose, ...of }: ScopeProps & { onClose: () => void }) {
  const found = useResource<Page<Variable>>(`set ${of.scope}`, (abort) => {
    const sort = [{ field: 'name', order: 'ASC' as const }];
    return search<Variable>('variables', { filter: { scopeKey: of.scope }, sort, page: { limit: MOST } }, abort);
  });
  const page = found.data.value;
  return (
    <Dialog title={t('variables.set')} onClose={onClose} wide>
      {page ? <SetThese {...of} page={page} onClose={onClose} /> : <p class="dim loading">{t('loading')}</p>}
      {found.problem.value && <ProblemBox problem={found.problem.value} retry={found.reload} />}
    </Dialog>
  );
}
