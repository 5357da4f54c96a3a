// Deployed files that are neither processes nor decisions: those that workers read, and forms.
import { t } from '../lib/i18n.ts';
import { href, query } from '../lib/router.ts';
import type { Need } from '../lib/session.ts';
import { Needing } from '../parts/act.tsx';
import { Asking } from '../parts/action.tsx';
import { Head } from '../parts/head.tsx';
import { SearchPage } from '../parts/search.tsx';
import type { Column } from '../parts/table.tsx';
import { versionColumn } from '../parts/versions.tsx';

export { Drafts } from './drafts.tsx'; // in this chunk: the first page would name another one

type Deployed = { resourceName: string; version: number; versionTag: string | null; tenantId: string };
/** One of the two. */
type Listed = Deployed & { resourceId?: string; resourceKey?: string; formId?: string; formKey?: string };

const need = (action: string): Need => ['RESOURCE', action];
const keyOf = (one: Listed): string => (one.formKey ?? one.resourceKey)!;
const idOf = (one: Listed): string => (one.formId ?? one.resourceId)!;

const columns = (kind: 'form' | 'resource'): Column<Listed>[] => [
  {
    title: t('resource.file'),
    sort: 'resourceName',
    wide: true,
    cell: (one) =>
      one.formKey ? (
        <a data-row href={href(`/resources/forms/${one.formKey}`)}>
          <b>{one.resourceName}</b>
        </a>
      ) : (
        <a data-row href={`/v2/resources/${one.resourceKey}/content/binary`} download title={t('document.download')}>
          <b>{one.resourceName}</b>
        </a>
      ),
  },
  { title: t('resource.id'), sort: `${kind}Id`, wide: true, cell: (one) => <code>{idOf(one)}</code> },
  versionColumn(),
  { title: t('tenant'), sort: 'tenantId', cell: (one) => one.tenantId },
  { title: t('key'), sort: `${kind}Key`, cell: (one) => <code>{keyOf(one)}</code> },
  {
    title: t('delete'),
    cell: (one) => (
      <Asking
        need={need(one.formKey ? 'DELETE_FORM' : 'DELETE_RESOURCE')}
        of={idOf(one)}
        title={t('delete')}
        note={t('resource.deleteNote', { name: `${one.resourceName} v${one.version}` })}
        command={{ method: 'POST', path: `/v2/resources/${keyOf(one)}/deletion` }}
      />
    ),
  },
];

export function Resources() {
  const kind = query.value.get('state') === 'forms' ? 'form' : 'resource';
  return (
    <>
      <Head
        title={t('nav.resources')}
        actions={
          <a class="button" href={href('/editor', { new: 'form' })}>
            {t('editor.newForm')}
          </a>
        }
      />
      <Needing need={need('READ')}>
        <SearchPage<Listed>
          key={kind}
          resource={`${kind}s`}
          label={t('nav.resources')}
          count="count.resources"
          columns={columns(kind)}
          id={keyOf}
          sort={`-${kind}Key`}
          topics={['definitions']}
          empty={t('empty.resources')}
          way={['/deploy', 'nav.deploy']}
          states={[
            ['files', t('resource.files')],
            ['forms', t('resource.forms')],
          ]}
          fields={[
            ['q', t('resource.file')],
            ['id', t('resource.id')],
            ['deployment', t('resource.deployment')],
          ]}
          filter={(_, { q, id, deployment }) => ({
            ...(q && { resourceName: { $like: `*${q}*` } }),
            ...(id && { [`${kind}Id`]: id }),
            ...(deployment && { deploymentKey: deployment }),
          })}
        />
      </Needing>
    </>
  );
}
