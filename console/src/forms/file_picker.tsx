// The form component `filepicker`: files that are stored as documents when the form is sent. Its value is a list of references.
import {
  Errors,
  FilePicker,
  Label,
  useExpressionEvaluation,
  useSingleLineTemplateEvaluation,
} from '@bpmn-io/form-js-viewer';
import { useRef } from 'preact/hooks';
import { isReference, nameOf, size } from '../lib/documents.ts';
import { t } from '../lib/i18n.ts';
import { explanation } from '../parts/problem.tsx';
import type { Files } from './files.ts';

type Field = { label?: string; accept?: string; multiple?: boolean | string; validate?: { required?: boolean } };
type FieldProps = {
  field: Field;
  domId: string;
  errors?: string[];
  disabled: boolean;
  readonly: boolean;
  value: unknown;
  onChange: (change: { value: unknown[] | null }) => void;
};

/** As many as anybody looks through. */
const MOST = 100;

function Chosen({ files, mark }: { files: Files; mark: unknown }) {
  const chosen = files.of(mark);
  if (!chosen) return isReference(mark) ? nameOf(mark) : JSON.stringify(mark);
  const { file, sent, problem } = chosen;
  return (
    <>
      {file.name} <span class="dim">{size(file.size)}</span>
      {sent.value !== null && (
        <progress aria-label={t('file.sending', { name: file.name })} value={sent.value} max={file.size || 1} />
      )}
      {problem.value && (
        <p class="invalid" role="alert">
          {t('file.refused', { name: file.name })} {explanation(problem.value)}
        </p>
      )}
    </>
  );
}

/** The component for the files of one form. */
export function filePicker(files: Files) {
  function Picker({ field, domId, errors = [], disabled, readonly, value, onChange }: FieldProps) {
    const input = useRef<HTMLInputElement>(null);
    const button = useRef<HTMLButtonElement>(null);
    const label = useSingleLineTemplateEvaluation(field.label ?? '', {});
    const accept = useSingleLineTemplateEvaluation(field.accept ?? '', {});
    const several = useExpressionEvaluation(field.multiple) === true;
    const marks: unknown[] = Array.isArray(value) ? value : value ? [value] : [];
    const set = (now: unknown[]) => onChange({ value: now.length ? now : null });
    const add = (found: FileList | null | undefined) => {
      const more = [...(found ?? [])].map(files.add);
      if (more.length) set((several ? [...marks, ...more] : more.slice(0, 1)).slice(0, MOST));
    };
    const locked = disabled || readonly || files.sending.value;
    const refused = marks.some((mark) => files.of(mark)?.problem.value);
    const wrong = errors.length > 0 || refused;
    return (
      <div
        role="group"
        aria-labelledby={`${domId}-label`}
        class={`fjs-form-field fjs-form-field-filepicker files${wrong ? ' fjs-has-errors' : ''}`}
        onDragOver={(event) => {
          event.preventDefault();
          event.stopPropagation(); // else the console offers to deploy them
        }}
        onDrop={(event) => {
          event.preventDefault();
          event.stopPropagation();
          if (!locked) add(event.dataTransfer?.files);
        }}
      >
        <Label id={`${domId}-label`} htmlFor={domId} label={field.label} required={field.validate?.required} />
        <input
          ref={input}
          type="file"
          hidden
          multiple={several}
          accept={accept || undefined}
          onChange={() => {
            add(input.current?.files);
            input.current!.value = ''; // the same file can be chosen again
          }}
        />
        {marks.length > 0 && (
          <ul>
            {marks.map((mark, i) => (
              <li key={typeof mark === 'string' ? mark : i}>
                <Chosen files={files} mark={mark} />{' '}
                {!locked && (
                  <button
                    type="button"
                    class="link"
                    aria-label={t('file.removeOne', { name: files.of(mark)?.file.name ?? String(i + 1) })}
                    onClick={() => {
                      set(marks.filter((_, at) => at !== i));
                      button.current?.focus();
                    }}
                  >
                    {t('remove')}
                  </button>
                )}
              </li>
            ))}
          </ul>
        )}
        <button
          ref={button}
          id={domId}
          type="button"
          disabled={locked}
          aria-invalid={wrong}
          aria-describedby={`${domId}-error-message`}
          aria-label={`${t(several ? 'file.chooseMore' : 'file.choose')}: ${label}`}
          onClick={() => input.current?.click()}
        >
          {t(several ? 'file.chooseMore' : 'file.choose')} …
        </button>
        <Errors id={`${domId}-error-message`} errors={errors} />
      </div>
    );
  }
  Picker.config = FilePicker.config;
  return Picker;
}
