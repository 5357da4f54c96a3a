// Choices of the user for this browser: theme, language, single-key shortcuts, height of rows, sizes of panes.
import { effect, type Signal, signal } from '@preact/signals';

function stored<T extends string>(name: string, initial: T): Signal<T> {
  const key = `vivero.${name}`;
  const made = signal((localStorage.getItem(key) as T | null) ?? initial);
  effect(() => {
    localStorage.setItem(key, made.value);
  });
  return made;
}

export type Theme = 'system' | 'light' | 'dark';
export const theme = stored<Theme>('theme', 'system');
export const chosenLanguage = stored<string>('language', '');
export const shortcuts = stored<'on' | 'off'>('shortcuts', 'on');
export const density = stored<'dense' | 'comfortable'>('density', 'dense');
/** The events that the history of an instance shows; empty for all. */
export const historyKind = stored<string>('history', '');
/** Whether new tasks are told by notifications. */
export const notifications = stored<'on' | 'off'>('notifications', 'off');
/** Whether diagrams have a small map of themselves, and whether pages show the inspector beside them. */
export const minimap = stored<'on' | 'off'>('minimap', 'off');
export const inspector = stored<'on' | 'off'>('inspector', 'on');
/** The ids of the columns of the list of instances, with commas between; empty for the usual ones. */
export const columns = stored<string>('columns', '');
/** The widths and heights of panes in pixels, as text; empty for those of the design. */
export const panes = {
  aside: stored<string>('aside', ''),
  timeline: stored<string>('timeline', ''),
  list: stored<string>('list', ''),
};

const dark = matchMedia('(prefers-color-scheme: dark)');
const systemDark = signal(dark.matches);

function sized(name: string, size: string): void {
  const style = document.documentElement.style;
  if (size) style.setProperty(`--${name}`, `${size}px`);
  else style.removeProperty(`--${name}`);
}

export function startTheme(): void {
  dark.addEventListener('change', () => {
    systemDark.value = dark.matches;
  });
  effect(() => {
    const isDark = theme.value === 'dark' || (theme.value === 'system' && systemDark.value);
    document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
  });
  effect(() => {
    document.documentElement.dataset.density = density.value;
  });
  for (const [name, size] of Object.entries(panes)) effect(() => sized(name, size.value));
}
