// Forms: rendered by form-js, which is loaded with the first form.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { t } from '../lib/i18n.ts';

type FormProps = { schema: string; data: Record<string, unknown>; disabled?: boolean; submit?: string; onSubmit: (variables: Record<string, unknown>) => void };

export function FormView({ schema, data, disabled = false, submit, onSubmit }: FormProps) {
  const host = useRef<HTMLDivElement>(null), failed = useSignal<string | null>(null), form = useSignal<{ submit(): void } | null>(null);
  const latest = useRef(onSubmit);
  latest.current = onSubmit;
  useEffect(() => {
    let made: { submit(): void; destroy(): void } | undefined, gone = false;
    import('../forms/form.ts').then(async ({ createForm }) => {
      if (gone) return;
      made = await createForm(host.current!, schema, data, disabled, (variables) => latest.current(variables));
      if (gone) return made.destroy();
      form.value = made;
    }).catch((error: Error) => { if (!gone) failed.value = error.message; });
    return () => { gone = true; made?.destroy(); };
  }, [schema, disabled]);
  return <div class="form" data-ready={form.value ? '' : undefined}>
    <div ref={host} />
    {failed.value !== null && <p class="invalid" role="alert">{t('form.failed')} {failed.value}</p>}
    {form.value && !disabled && <div class="row"><button type="button" class="primary" onClick={() => form.value?.submit()}>{submit ?? t('task.complete')}</button></div>}
  </div>;
}
