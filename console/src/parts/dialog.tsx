// Dialogs: the platform's, with a title, and focus that returns to where it was.
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import { t } from '../lib/i18n.ts';

/** Put the focus where it was before a dialog: on an element, or on the button of the menu (`More`) that the element is in. */
function leaveMenu(before: HTMLElement | null): void {
  const menu = before?.closest<HTMLDetailsElement>('details.more');
  if (menu) menu.open = false;
  (menu?.querySelector('summary') ?? before)?.focus();
}

type DialogProps = { title: string; onClose: () => void; wide?: boolean; children: ComponentChildren };

export function Dialog({ title, onClose, wide = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    const shown = dialog.current!;
    shown.showModal();
    return () => {
      shown.close(); // nothing else can have the focus before
      leaveMenu(before);
    };
  }, []);
  const closed = () => {
    if (dialog.current) onClose(); // and not while it goes
  };
  const outside = (event: MouseEvent) => {
    if (event.target === dialog.current) onClose();
  };
  return (
    <dialog ref={dialog} class={wide ? 'wide' : undefined} aria-labelledby={id} onClose={closed} onClick={outside}>
      <div class="sheet">
        <header>
          <h2 id={id}>{title}</h2>
          <button type="button" class="quiet" aria-label={t('close')} onClick={onClose}>
            ×
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
