// The form that is edited, with data that somebody types.
import type { Signal } from '@preact/signals';
import { t } from '../../lib/i18n.ts';
import { FormSample } from '../../parts/form_sample.tsx';

export function FormPreview({ schema, variables }: { schema: string; variables: Signal<string> }) {
  return (
    <section class="stack" aria-label={t('trial.title')}>
      <FormSample schema={schema} variables={variables} />
    </section>
  );
}
