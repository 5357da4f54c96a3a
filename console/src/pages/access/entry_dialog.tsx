// Create or change a user, group, role, tenant or mapping rule.

import { useSignal } from '@preact/signals';
import { get } from '../../lib/api.ts';
import { argument, type Command } from '../../lib/commands.ts';
import { t } from '../../lib/i18n.ts';
import { ActionDialog, type Checked } from '../../parts/action.tsx';
import { differences } from '../../parts/conflict.tsx';
import { Field } from '../../parts/field.tsx';
import { type Entry, type Kind, pathOf } from './kinds.ts';

type Values = Record<string, string>;
type EntryDialogProps = { kind: Kind; entry: Entry | null; onClose: () => void; onDone?: (id: string) => void };

const textsOf = (kind: Kind, entry: Entry | null): Values =>
  Object.fromEntries(kind.fields.map(({ name }) => [name, entry?.[name] ?? '']));

/** Fields without a text are left out, except required ones, which the server then asks for. */
function bodyOf(kind: Kind, values: Values, password: string): Values {
  const given = kind.fields
    .filter(({ name, required }) => required || values[name])
    .map(({ name }) => [name, values[name] ?? '']);
  return { ...Object.fromEntries(given), ...(password && { password }) };
}

function commandOf(kind: Kind, entry: Entry | null, id: string, values: Values, password: string): Command {
  const body = bodyOf(kind, values, password);
  if (entry) return { method: 'PUT', path: pathOf(kind.path, id), body };
  const option = (name: string) => (values[name] ? ` --${name} ${argument(values[name])}` : '');
  const named =
    kind.path === 'tenants'
      ? { cli: `tenant create ${argument(id)} --name ${argument(values.name || id)}` }
      : kind.path === 'users'
        ? { cli: `user add ${argument(id)}${option('name')}${option('email')}` }
        : {};
  return { method: 'POST', path: pathOf(kind.path), body: { [kind.id]: id, ...body }, ...named };
}

export function EntryDialog({ kind, entry, onClose, onDone }: EntryDialogProps) {
  const id = useSignal(entry?.[kind.id] ?? '');
  const values = useSignal(textsOf(kind, entry));
  const password = useSignal('');
  const before = useSignal(textsOf(kind, entry)).value;
  const check = async (): Promise<Checked> => {
    if (!entry) return { differences: [] };
    return {
      differences: differences(before, textsOf(kind, await get<Entry>(pathOf(kind.path, id.value))), values.value),
    };
  };
  const title = t(entry ? 'access.change' : 'access.create', { what: t(kind.one) });
  const isUser = kind.path === 'users';
  const missing =
    !id.value ||
    kind.fields.some(({ name, required }) => required && !values.value[name]) ||
    (isUser && !entry && !password.value);
  return (
    <ActionDialog
      title={title}
      button={t(entry ? 'save' : 'create')}
      onClose={onClose}
      onDone={() => onDone?.(id.value)}
      check={check}
      invalid={missing ? t('form.missing') : null}
      commands={[commandOf(kind, entry, id.value, values.value, password.value)]}
    >
      {!entry && <Field label={t('field.id')} value={id} autofocus />}
      {kind.fields.map(({ name, label, required }) => (
        <label key={name} class="field">
          {t(label)}
          {!required && ` (${t('optional')})`}
          <input
            value={values.value[name]}
            onInput={(event) => {
              values.value = { ...values.value, [name]: event.currentTarget.value };
            }}
          />
        </label>
      ))}
      {isUser && (
        <Field
          label={
            <>
              {t('user.password')} {entry && ` (${t('access.keepPassword')})`}
            </>
          }
          value={password}
          type="password"
          autocomplete="new-password"
        />
      )}
    </ActionDialog>
  );
}
