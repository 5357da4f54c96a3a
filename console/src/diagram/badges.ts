// Small signs at elements. Their texts come from models and counts, so they are never HTML.
import type { Mark } from './marks.ts';

export type Badge = { text: string; tone: string };
export type Badges = (mark: Mark) => { left?: Badge | null; right?: Badge | null };

export function badge({ text, tone }: Badge): HTMLElement {
  const made = document.createElement('span');
  made.className = `token ${tone}`;
  made.textContent = text;
  made.setAttribute('aria-hidden', 'true');
  return made;
}

/** Badges of an instance: the number of active tokens, and a sign for incidents. */
export const instanceBadges: Badges = (mark) => ({
  left:
    mark.active + mark.incidents
      ? { text: String(mark.active + mark.incidents), tone: mark.incidents && !mark.active ? 'bad' : '' }
      : null,
  right: mark.incidents ? { text: '!', tone: 'bad' } : null,
});
