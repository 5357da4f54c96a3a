// What the user chose for this browser: theme, language, single-key shortcuts, the name under which tasks are claimed.
import { effect, signal, type Signal } from '@preact/signals';

function stored<T extends string>(name: string, initial: T): Signal<T> {
  const key = `vivero.${name}`;
  const made = signal((localStorage.getItem(key) as T | null) ?? initial);
  effect(() => { localStorage.setItem(key, made.value); });
  return made;
}

export type Theme = 'system' | 'light' | 'dark';
export const theme = stored<Theme>('theme', 'system');
export const chosenLanguage = stored<string>('language', '');
export const shortcuts = stored<'on' | 'off'>('shortcuts', 'on');

const dark = matchMedia('(prefers-color-scheme: dark)');
const systemDark = signal(dark.matches);

export function startTheme(): void {
  dark.addEventListener('change', () => { systemDark.value = dark.matches; });
  effect(() => {
    const isDark = theme.value === 'dark' || (theme.value === 'system' && systemDark.value);
    document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
  });
}
