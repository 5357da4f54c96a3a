// Cluster variables: values that the expressions of all processes see, of the whole cluster or of a tenant.
import { useSignal } from '@preact/signals';
import { get } from '../lib/api.ts';
import { argument, type Command } from '../lib/commands.ts';
import { t } from '../lib/i18n.ts';
import { parsed, pretty, variablesOf } from '../lib/json.ts';
import { useResource } from '../lib/resource.ts';
import { href, put, query } from '../lib/router.ts';
import { may, type Need } from '../lib/session.ts';
import { Needing } from '../parts/act.tsx';
import { ActionDialog, Asking, type Checked } from '../parts/action.tsx';
import { differences } from '../parts/conflict.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { Head } from '../parts/head.tsx';
import { JsonArea } from '../parts/json_area.tsx';
import { Opening } from '../parts/opening.tsx';
import { ProblemBox } from '../parts/problem.tsx';
import { SearchPage } from '../parts/search.tsx';
import type { Column } from '../parts/table.tsx';
import { tenants } from '../parts/tenant.tsx';
import { Copy } from '../parts/time.tsx';

type ClusterVariable = {
  name: string;
  tenantId: string | null;
  value: string;
  metadata: Record<string, string | number>;
  isTruncated?: boolean;
};
type Texts = { value: string; metadata: string };

const need = (action: string): Need => ['CLUSTER_VARIABLE', action];
const LONG = 120;

const placeOf = (tenantId: string | null): string =>
  `/v2/cluster-variables/${tenantId === null ? 'global' : `tenants/${encodeURIComponent(tenantId)}`}`;
const pathOf = (name: string, tenantId: string | null): string => `${placeOf(tenantId)}/${encodeURIComponent(name)}`;
const optionOf = (tenantId: string | null): string => (tenantId === null ? '' : ` --tenant ${argument(tenantId)}`);

/** Its name in expressions. */
function expressionOf({ name, tenantId }: ClusterVariable): string {
  const plain = /^[A-Za-z_]\w*$/.test(name) ? name : `\`${name}\``;
  return `camunda.vars.${tenantId === null ? 'cluster' : 'tenant'}.${plain}`;
}

const textsOf = ({ value, metadata }: ClusterVariable): Texts => ({
  value: pretty(value),
  metadata: Object.keys(metadata).length ? JSON.stringify(metadata, null, 2) : '',
});

function commandOf(name: string, tenantId: string | null, isNew: boolean, texts: Texts): Command {
  const value = parsed(texts.value).value ?? null;
  const metadata = variablesOf(texts.metadata).value ?? {};
  const body = { value, metadata };
  const options = ` --metadata ${argument(JSON.stringify(metadata))}${optionOf(tenantId)}`;
  const cli = `cluster-variables set ${argument(name)} ${argument(JSON.stringify(value))}${options}`;
  return isNew
    ? { method: 'POST', path: placeOf(tenantId), body: { name, ...body }, cli }
    : { method: 'PUT', path: pathOf(name, tenantId), body, cli };
}

/** Create one, or change `of`. */
function EditDialog({ of, onClose }: { of: ClusterVariable | null; onClose: () => void }) {
  const name = useSignal(of?.name ?? '');
  const tenant = useSignal(of?.tenantId ?? '');
  const before = useSignal<Texts>(of ? textsOf(of) : { value: '', metadata: '' }).value;
  const value = useSignal(before.value);
  const metadata = useSignal(before.metadata);
  const texts = { value: value.value, metadata: metadata.value };
  const tenantId = tenant.value || null;
  const check = async (): Promise<Checked> => {
    if (!of) return { differences: [] };
    const now = textsOf(await get<ClusterVariable>(pathOf(of.name, of.tenantId)));
    return { differences: differences(before, now, texts) };
  };
  const wrong = value.value.trim() ? parsed(value.value).problem : null;
  const missing = name.value && value.value.trim() ? null : t('form.missing');
  const title = t(of ? 'change' : 'clusterVariable.create');
  return (
    <ActionDialog
      title={of ? `${title}: ${of.name}` : title}
      button={t(of ? 'save' : 'create')}
      onClose={onClose}
      check={check}
      invalid={wrong ?? variablesOf(metadata.value).problem ?? missing}
      commands={[commandOf(name.value, tenantId, of === null, texts)]}
    >
      {of ? (
        <p class="dim">{of.tenantId === null ? t('clusterVariable.ofCluster') : `${t('tenant')} ${of.tenantId}`}</p>
      ) : (
        <>
          <Field label={t('clusterVariable.name')} value={name} autofocus placeholder="API_URL" />
          <Field label={t('clusterVariable.tenant')} value={tenant} list="tenants" />
          <datalist id="tenants">
            {tenants.value.map((one) => (
              <option key={one.tenantId} value={one.tenantId} />
            ))}
          </datalist>
        </>
      )}
      <JsonArea label={t('clusterVariable.json')} text={value} rows={8} placeholder='"https://api.example.com"' />
      <JsonArea label={t('clusterVariable.metadata')} text={metadata} rows={3} placeholder='{"team": "billing"}' />
      <p class="dim">{t('clusterVariable.note')}</p>
    </ActionDialog>
  );
}

/** The one that the URL names, with its whole value: to be changed, or to be read. */
function Opened({ name, tenantId }: { name: string; tenantId: string | null }) {
  const path = pathOf(name, tenantId);
  const found = useResource(path, (abort) => get<ClusterVariable>(path, abort));
  const close = () => put({ name: null, of: null });
  const variable = found.data.value;
  if (variable && may(need('UPDATE'))) return <EditDialog of={variable} onClose={close} />;
  if (!variable && !found.problem.value) return null; // one dialog, so that the focus returns to the row
  return (
    <Dialog title={name} wide onClose={close}>
      {found.problem.value && <ProblemBox problem={found.problem.value} retry={found.reload} />}
      {variable && (
        <pre class="json" tabIndex={0}>
          {pretty(variable.value)}
        </pre>
      )}
    </Dialog>
  );
}

const columns = (): Column<ClusterVariable>[] => [
  {
    title: t('clusterVariable.name'),
    sort: 'name',
    wide: true,
    cell: (one) => (
      <a
        data-row
        href={href('/cluster-variables', { ...Object.fromEntries(query.value), name: one.name, of: one.tenantId })}
      >
        <b>{one.name}</b>
      </a>
    ),
  },
  {
    title: t('clusterVariable.scope'),
    sort: 'tenantId',
    cell: (one) => one.tenantId ?? <span class="dim">{t('clusterVariable.ofCluster')}</span>,
  },
  {
    title: t('clusterVariable.value'),
    sort: 'value',
    wide: true,
    cell: ({ value, isTruncated }) => (
      <code>{isTruncated || value.length > LONG ? `${value.slice(0, LONG)}…` : value}</code>
    ),
  },
  {
    title: t('clusterVariable.expression'),
    wide: true,
    cell: (one) => (
      <>
        <code>{expressionOf(one)}</code>
        <Copy text={expressionOf(one)} />
      </>
    ),
  },
  {
    title: t('delete'),
    cell: ({ name, tenantId }) => (
      <Asking
        need={need('DELETE')}
        title={t('delete')}
        note={t('clusterVariable.deleteNote', { name })}
        command={{
          method: 'DELETE',
          path: pathOf(name, tenantId),
          cli: `cluster-variables delete ${argument(name)}${optionOf(tenantId)}`,
        }}
      />
    ),
  },
];

export function ClusterVariables() {
  const create = (
    <Opening need={need('CREATE')} class="primary" text={t('clusterVariable.create')}>
      {(close) => <EditDialog of={null} onClose={close} />}
    </Opening>
  );
  const name = query.value.get('name');
  return (
    <>
      <Head title={t('clusterVariables')} actions={create} />
      <Needing need={need('READ')}>
        <SearchPage<ClusterVariable>
          resource="cluster-variables"
          label={t('clusterVariables')}
          count="count.variables"
          columns={columns()}
          id={(one) => `${one.tenantId ?? ''}/${one.name}`}
          sort="name"
          topics={['@cluster-variables']}
          empty={t('empty.clusterVariables')}
          offer={create}
          states={[
            ['', t('filter.all')],
            ['GLOBAL', t('clusterVariable.ofCluster')],
            ['TENANT', t('clusterVariable.ofTenants')],
          ]}
          fields={[
            ['q', t('clusterVariable.name')],
            ['tenant', t('tenant')],
          ]}
          filter={(scope, { q, tenant }) => ({
            ...(scope && { scope }),
            ...(q && { name: { $like: `*${q}*` } }),
            ...(tenant && { tenantId: tenant }),
          })}
        />
        {name !== null && (
          <Opened key={`${query.value.get('of')} ${name}`} name={name} tenantId={query.value.get('of')} />
        )}
      </Needing>
    </>
  );
}
