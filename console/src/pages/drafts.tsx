// Drafts of models that nobody has deployed yet, of all people who may deploy.
import { t } from '../lib/i18n.ts';
import { href } from '../lib/router.ts';
import { DEPLOY } from '../lib/session.ts';
import { Needing } from '../parts/act.tsx';
import { Asking } from '../parts/action.tsx';
import { Head } from '../parts/head.tsx';
import { SearchPage } from '../parts/search.tsx';
import type { Column } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';

type Listed = {
  modelDraftKey: string;
  name: string;
  tenantId: string;
  createdBy: string;
  updatedBy: string;
  lastUpdatedDate: string;
};

const columns = (): Column<Listed>[] => [
  {
    title: t('resource.file'),
    sort: 'name',
    wide: true,
    cell: (one) => (
      <a data-row href={href('/editor', { draft: one.modelDraftKey })}>
        <b>{one.name}</b>
      </a>
    ),
  },
  { title: t('draft.by'), cell: (one) => one.updatedBy },
  { title: t('draft.at'), sort: 'lastUpdatedDate', cell: (one) => <Time at={one.lastUpdatedDate} /> },
  { title: t('draft.first'), cell: (one) => one.createdBy },
  { title: t('tenant'), cell: (one) => one.tenantId },
  {
    title: t('delete'),
    cell: (one) => (
      <Asking
        need={DEPLOY}
        title={t('delete')}
        note={t('draft.deleteNote', { name: one.name })}
        command={{ method: 'DELETE', path: `/v2/model-drafts/${one.modelDraftKey}` }}
      />
    ),
  },
];

export function Drafts() {
  return (
    <>
      <Head title={t('draft.list')} crumbs={<a href={href('/processes')}>{t('nav.processes')}</a>} />
      <Needing need={DEPLOY}>
        <SearchPage<Listed>
          resource="model-drafts"
          label={t('draft.list')}
          count="count.drafts"
          columns={columns()}
          id={(one) => one.modelDraftKey}
          sort="-lastUpdatedDate"
          topics={['definitions']}
          empty={t('draft.none')}
          way={['/editor', 'editor.new']}
          states={[]}
          fields={[['q', t('resource.file')]]}
          filter={(_, { q }) => (q ? { name: { $like: `*${q}*` } } : {})}
        />
      </Needing>
    </>
  );
}
