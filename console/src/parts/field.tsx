// A text with its label, as dialogs ask for it.
import type { Signal } from '@preact/signals';
import type { ComponentChildren, InputHTMLAttributes } from 'preact';

type FieldProps = Omit<InputHTMLAttributes<HTMLInputElement>, 'value' | 'label'> & {
  label: ComponentChildren;
  value: Signal<string>;
};

export function Field({ label, value, ...input }: FieldProps) {
  return (
    <label class="field">
      {label}
      <input
        value={value.value}
        onInput={(event) => {
          value.value = event.currentTarget.value;
        }}
        {...input}
      />
    </label>
  );
}
