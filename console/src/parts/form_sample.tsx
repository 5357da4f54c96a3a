// A form as its readers see it, with data that somebody types. Nothing is sent, and no file is stored.
import type { Signal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { t } from '../lib/i18n.ts';
import { variablesOf } from '../lib/json.ts';
import { FormView } from './form.tsx';
import { JsonArea } from './json_area.tsx';

type FormSampleProps = { schema: string; variables: Signal<string>; tenant?: { tenantId?: string } };

export function FormSample({ schema, variables, tenant }: FormSampleProps) {
  const sample = variablesOf(variables.value);
  const data = useRef<Record<string, unknown>>({});
  if (sample.value) data.current = sample.value; // the last valid one stays while somebody types
  return (
    <>
      <JsonArea
        label={t('resource.sample')}
        text={variables}
        rows={4}
        placeholder='{"amount": 250}'
        problem={sample.problem}
      />
      <FormView
        key={`${schema} ${JSON.stringify(data.current)}`}
        schema={schema}
        data={data.current}
        owner={{ processDefinitionId: '', ...tenant }}
      />
    </>
  );
}
