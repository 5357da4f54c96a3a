// The form that is edited as its readers will see it, with data that somebody types. Nothing is sent, and no file is stored.
import type { Signal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { t } from '../../lib/i18n.ts';
import { variablesOf } from '../../lib/json.ts';
import { FormView } from '../../parts/form.tsx';
import { JsonArea } from '../../parts/json_area.tsx';

type PreviewProps = { schema: string; variables: Signal<string> };

export function FormPreview({ schema, variables }: PreviewProps) {
  const sample = variablesOf(variables.value);
  const data = useRef<Record<string, unknown>>({});
  if (sample.value) data.current = sample.value; // the last valid one stays while somebody types
  return (
    <section class="stack" aria-label={t('trial.title')}>
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
        owner={{ processDefinitionId: '' }}
      />
    </section>
  );
}
