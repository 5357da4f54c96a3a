// Actions of a page's head beside the most used: opened by a button, closed as soon as the user goes on elsewhere.
import '../styles/parts/columns.css';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { t } from '../lib/i18n.ts';

/** Links and buttons. A dialog of one of them belongs to it: while it is open, the menu is hidden, but not closed. */
export function More({ children }: { children: ComponentChildren }) {
  const details = useRef<HTMLDetailsElement>(null);
  const summary = useRef<HTMLElement>(null);
  const close = () => {
    if (details.current) details.current.open = false;
  };
  const back = () => {
    close();
    summary.current?.focus();
  };
  useEffect(() => {
    const pressed = ({ target }: PointerEvent) => {
      if (!details.current!.contains(target as Node)) close();
    };
    document.addEventListener('pointerdown', pressed);
    return () => document.removeEventListener('pointerdown', pressed);
  }, []);
  const isOfDialog = ({ target }: Event) => (target as Element).closest('dialog') !== null;
  return (
    <details
      ref={details}
      class="more"
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || isOfDialog(event) || !details.current!.open) return;
        back();
      }}
      onFocusOut={({ relatedTarget, currentTarget }) => {
        if (relatedTarget && !currentTarget.contains(relatedTarget as Node)) close(); // also while the page goes
      }}
      onClick={(event) => {
        if ((event.target as Element).closest('[aria-pressed]') && !isOfDialog(event)) back();
      }}
    >
      <summary ref={summary} class="button">
        {t('more')}
      </summary>
      <div class="sheet">{children}</div>
    </details>
  );
}
