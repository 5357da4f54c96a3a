// A deployed form as its readers see it, with data that somebody types. Nothing is sent, and no file is stored.
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { get } from '../lib/api.ts';
import { t } from '../lib/i18n.ts';
import { variablesOf } from '../lib/json.ts';
import { useResource } from '../lib/resource.ts';
import { href } from '../lib/router.ts';
import type { Form } from '../lib/shapes.ts';
import { FormView } from '../parts/form.tsx';
import { Head } from '../parts/head.tsx';
import { JsonArea } from '../parts/json_area.tsx';
import { ProblemBox } from '../parts/problem.tsx';
import { tenantOf } from '../parts/tenant.tsx';

export function FormPage({ id }: { id: string }) {
  const found = useResource(`form ${id}`, (abort) => get<Form>(`/v2/forms/${encodeURIComponent(id)}`, abort));
  const text = useSignal('');
  const sample = variablesOf(text.value);
  const data = useRef<Record<string, unknown>>({});
  if (sample.value) data.current = sample.value; // the last valid one stays while somebody types
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
      {found.problem.value && <ProblemBox problem={found.problem.value} retry={found.reload} />}
      {form && (
        <>
          <JsonArea
            label={t('resource.sample')}
            text={text}
            rows={4}
            placeholder='{"amount": 250}'
            problem={sample.problem}
          />
          <FormView
            key={JSON.stringify(data.current)}
            schema={form.schema}
            data={data.current}
            owner={{ processDefinitionId: '', ...tenantOf(form.tenantId) }}
          />
        </>
      )}
    </>
  );
}
