// A deployed form, with data that somebody types.
import { useSignal } from '@preact/signals';
import { get } from '../lib/api.ts';
import { t } from '../lib/i18n.ts';
import { useResource } from '../lib/resource.ts';
import { href } from '../lib/router.ts';
import type { Form } from '../lib/shapes.ts';
import { FormSample } from '../parts/form_sample.tsx';
import { Head } from '../parts/head.tsx';
import { ProblemBox } from '../parts/problem.tsx';
import { tenantOf } from '../parts/tenant.tsx';

export function FormPage({ id }: { id: string }) {
  const found = useResource(`form ${id}`, (abort) => get<Form>(`/v2/forms/${encodeURIComponent(id)}`, abort));
  const variables = useSignal('');
  const form = found.data.value;
  return (
    <>
      <Head
        title={form ? `${form.formId} v${form.version}` : t('resource.form')}
        crumbs={<a href={href('/resources', { state: 'forms' })}>{t('nav.resources')}</a>}
        actions={
          <a class="button" href={href('/editor', { form: id })}>
            {t('edit')}
          </a>
        }
      />
      {found.problem.value && (
        <ProblemBox problem={found.problem.value} retry={found.reload} of={['/resources', 'nav.resources']} />
      )}
      {form && <FormSample schema={form.schema} variables={variables} tenant={tenantOf(form.tenantId)} />}
    </>
  );
}
