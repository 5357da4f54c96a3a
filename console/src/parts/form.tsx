// Forms: rendered by form-js, which is loaded with the first form.
import { type Signal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Command } from '../lib/commands.ts';
import type { Owner } from '../lib/documents.ts';
import { t } from '../lib/i18n.ts';
import { CopyCommands } from './copy_commands.tsx';

type FormProps = {
  schema: string;
  data: Record<string, unknown>;
  /** The owner of the documents that the files in it become. */
  owner: Owner;
  disabled?: boolean;
  submit?: string;
  /** Without it the form is a preview, and shows what it would send. */
  commandOf?: (variables: Record<string, unknown>) => Command;
  onSubmit?: (variables: Record<string, unknown>) => Promise<void>;
  children?: ComponentChildren;
};
/** `before`: the requests that store files. */
type Entered = { data: Record<string, unknown>; before: Command[] };
type Made = {
  submit(): void;
  now(): Entered;
  sending: Signal<boolean>;
  watch(changed: () => void): void;
  lock(locked: boolean): void;
  destroy(): void;
};

/** A form, and below it what it sends, `children` and the button. `disabled` may change, and what was entered stays. */
export function FormView({ schema, data, owner, disabled = false, submit, commandOf, onSubmit, children }: FormProps) {
  const host = useRef<HTMLDivElement>(null);
  const failed = useSignal<string | null>(null);
  const form = useSignal<Made | null>(null);
  const entered = useSignal<Entered>({ data: {}, before: [] });
  const latest = useRef(onSubmit);
  latest.current = onSubmit;
  useEffect(() => {
    let made: Made | undefined;
    let gone = false;
    import('../forms/form.ts')
      .then(async ({ createForm }) => {
        if (gone) return;
        const submitted = latest.current && (async (variables: Record<string, unknown>) => latest.current?.(variables));
        made = await createForm(host.current!, schema, data, owner, submitted ?? null);
        if (gone) return made.destroy();
        const take = () => {
          entered.value = made!.now();
        };
        take();
        made.watch(take);
        form.value = made;
      })
      .catch((error: Error) => {
        if (!gone) failed.value = error.message;
      });
    return () => {
      gone = true;
      locked.current = false;
      form.value = null;
      made?.destroy();
    };
  }, [schema]);
  const locked = useRef(false);
  useEffect(() => {
    if (!form.value || locked.current === disabled) return; // to lock it draws it anew: not while somebody types already
    locked.current = disabled;
    form.value.lock(disabled);
  }, [form.value, disabled]);
  return (
    <div class="form" data-ready={form.value || failed.value !== null ? '' : undefined}>
      <div ref={host} />
      {failed.value !== null && (
        <p class="invalid" role="alert">
          {t('form.failed')} {failed.value}
        </p>
      )}
      {form.value && !commandOf && (
        <>
          <h2>{t('resource.entered')}</h2>
          <pre class="json" tabIndex={0}>
            {JSON.stringify(entered.value.data, null, 2)}
          </pre>
        </>
      )}
      {form.value && !disabled && commandOf && (
        <>
          {children}
          <CopyCommands commands={[...entered.value.before, commandOf(entered.value.data)]} />
          <div class="row">
            <button
              type="button"
              class="primary"
              disabled={form.value.sending.value}
              onClick={() => form.value?.submit()}
            >
              {form.value.sending.value ? t('file.sendingAll') : (submit ?? t('task.complete'))}
            </button>
          </div>
        </>
      )}
    </div>
  );
}
