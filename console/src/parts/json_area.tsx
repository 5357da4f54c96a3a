// A field for JSON.
import type { Signal } from '@preact/signals';

type JsonAreaProps = { label: string; text: Signal<string>; rows: number; placeholder?: string };

export function JsonArea({ label, text, rows, placeholder }: JsonAreaProps) {
  return (
    <label class="area">
      {label}
      <textarea
        class="json"
        rows={rows}
        spellcheck={false}
        placeholder={placeholder}
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
        }}
      />
    </label>
  );
}
