// A button that opens a dialog.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { Act, type ActProps } from './act.tsx';

type OpeningProps = Omit<ActProps, 'onClick' | 'children'> & {
  text: string;
  children: (close: () => void) => ComponentChildren;
};

/** `children` makes the dialog, with the function that closes it. */
export function Opening({ text, children, ...act }: OpeningProps) {
  const open = useSignal(false);
  const close = () => {
    open.value = false;
  };
  return (
    <>
      <Act
        {...act}
        onClick={() => {
          open.value = true;
        }}
      >
        {text} …
      </Act>
      {open.value && children(close)}
    </>
  );
}
