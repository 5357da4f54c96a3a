// A field for JSON. `problem`: why its text is not valid, unless the form around it says that.
import type { Signal } from '@preact/signals';

type JsonAreaProps = {
  label: string;
  text: Signal<string>;
  rows: number;
  placeholder?: string;
  problem?: string | null;
};

export function JsonArea({ label, text, rows, placeholder, problem }: JsonAreaProps) {
  return (
    <>
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
      {problem && (
        <p class="invalid" role="alert">
          {problem}
        </p>
      )}
    </>
  );
}
