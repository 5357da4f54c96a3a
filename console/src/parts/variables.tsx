// Variables: JSON text, whole on demand, to be edited in their scope.
import { useSignal } from '@preact/signals';
import { get } from '../lib/api.ts';
import { t } from '../lib/i18n.ts';
import { pretty } from '../lib/json.ts';
import { href } from '../lib/router.ts';
import { UPDATE_INSTANCE } from '../lib/session.ts';
import type { Instance, Variable } from '../lib/shapes.ts';
import { Act } from './act.tsx';
import { Dialog } from './dialog.tsx';
import { Opened } from './lazy.tsx';
import { Copy } from './time.tsx';

/** `cut`: the value is only the beginning of it. `key`: of the variable, to read the whole of it. */
export type Row = { name: string; value: string; scope: string; fresh: boolean; cut?: boolean; key?: string };

const editor = async () => (await import('../pages/set_variables.tsx')).EditVariable;

const LONG = 120;

async function whole(row: Row): Promise<string> {
  return row.cut && row.key ? (await get<Variable>(`/v2/variables/${row.key}`)).value : row.value;
}

/** `editable`: the instance, if its variables can be changed now. */
function RowView({ row, editable }: { row: Row; editable: Instance | null }) {
  const shown = useSignal<string | null>(null);
  const edited = useSignal<string | null>(null);
  const edit = async () => {
    edited.value = await whole(row);
  };
  const show = async () => {
    shown.value = pretty(await whole(row));
  };
  const isLong = row.value.length > LONG || row.cut;
  return (
    <>
      <tr class={row.fresh ? 'fresh' : undefined}>
        <th scope="row" title={row.name}>
          {row.name}
        </th>
        <td>
          {editable && edited.value === null && (
            <Act need={UPDATE_INSTANCE} of={editable.processDefinitionId} class="link edit" onClick={() => void edit()}>
              {t('edit')}
            </Act>
          )}
          <code>{isLong ? `${row.value.slice(0, LONG)}…` : row.value}</code>
          <span class="tools">
            {isLong && (
              <button type="button" class="link" onClick={() => void show()}>
                {t('variables.whole')}
              </button>
            )}
            {!isLong && (
              <a
                href={href('/instances', { state: 'all', variable: row.name, value: row.value })}
                title={t('variables.find')}
              >
                {t('variables.same')}
              </a>
            )}
            <Copy text={row.value} label={row.name} />
          </span>
          {shown.value !== null && (
            <Dialog
              title={row.name}
              wide
              onClose={() => {
                shown.value = null;
              }}
            >
              <pre class="json" tabIndex={0}>
                {shown.value}
              </pre>
            </Dialog>
          )}
        </td>
      </tr>
      {edited.value !== null && editable && (
        <tr>
          <td colSpan={2} class="editing">
            <Opened
              load={editor}
              props={{
                instance: editable,
                scope: row.scope,
                name: row.name,
                value: edited.value,
                local: true,
                onClose: () => {
                  edited.value = null;
                },
              }}
            />
          </td>
        </tr>
      )}
    </>
  );
}

export function Variables({ title, rows, editable }: { title: string; rows: Row[]; editable: Instance | null }) {
  return (
    <>
      <h3>{title}</h3>
      {rows.length ? (
        <table class="variables">
          <tbody>
            {rows.map((row) => (
              <RowView key={`${row.scope}/${row.name}`} row={row} editable={editable} />
            ))}
          </tbody>
        </table>
      ) : (
        <p class="dim">{t('variables.none')}</p>
      )}
    </>
  );
}
