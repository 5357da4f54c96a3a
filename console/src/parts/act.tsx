// Buttons of actions. One that the user has no permission for stays reachable, and says why it does nothing.
import type { ComponentChildren } from 'preact';
import { t } from '../lib/i18n.ts';
import { may, type Need, rightsAsked } from '../lib/session.ts';

export type ActProps = {
  need: Need | null;
  of?: string | undefined;
  onClick: () => void;
  class?: string;
  disabled?: boolean;
  /** Why it is not possible now, beside a lack of permission. */
  why?: string | null;
  /** Whether it is on, for one that switches. */
  pressed?: boolean;
  label?: string;
  children: ComponentChildren;
};

/** Why the user may not do something; null if it is possible. `of`: the id of its process, or another resource. */
export const lackOf = (need: Need | null, of?: string): string | null =>
  need === null || may(need, of) ? null : t('rights.lack', { permission: `${need[1]} (${need[0]})` });

export function Act({
  need,
  of,
  onClick,
  class: look,
  disabled = false,
  why = null,
  pressed,
  label,
  children,
}: ActProps) {
  const lack = lackOf(need, of) ?? why;
  return (
    <button
      type="button"
      class={look}
      disabled={disabled && !lack}
      aria-disabled={lack ? true : undefined}
      aria-pressed={pressed}
      data-why={lack ?? undefined}
      aria-label={label}
      onClick={() => {
        if (!lack) onClick();
      }}
    >
      {children}
      {lack && <span class="sr"> {lack}</span>}
    </button>
  );
}

/** An action that needs a permission: it waits until the rights are known. Without the permission, the user reads which one is lacking. */
export function Needing({ need, children }: { need: Need | null; children: ComponentChildren }) {
  const lack = lackOf(need);
  if (lack)
    return (
      <div class="empty">
        <p>{lack}</p>
      </div>
    );
  return rightsAsked.value ? children : <p class="dim loading">{t('loading')}</p>;
}
