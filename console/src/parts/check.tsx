// A box to tick.
import type { Signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

type CheckProps = { value: Signal<boolean>; disabled?: boolean; children: ComponentChildren };

export function Check({ value, disabled = false, children }: CheckProps) {
  return (
    <label class="check">
      <input
        type="checkbox"
        disabled={disabled}
        checked={value.value}
        onChange={(event) => {
          value.value = event.currentTarget.checked;
        }}
      />{' '}
      {children}
    </label>
  );
}
