// Texts of the console in the user's language. A missing text does not compile. Data of users are never translated.
import { signal } from '@preact/signals';
import { en } from '../locales/en.ts';

export type Key = keyof typeof en;
export type Catalogue = Record<Key, string>;
export const LANGUAGES = { en: 'English', es: 'Español', pt: 'Português' } as const;
export type Language = keyof typeof LANGUAGES;

const LOADERS: Record<Exclude<Language, 'en'>, () => Promise<Catalogue>> = {
  es: async () => (await import('../locales/es.ts')).es,
  pt: async () => (await import('../locales/pt.ts')).pt,
};
export const language = signal<Language>('en');
const catalogue = signal<Catalogue>(en);

/** The text of a key, with `{name}` replaced. */
export function t(key: Key, values: Record<string, string | number> = {}): string {
  return catalogue.value[key].replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

export const number = (n: number): string => n.toLocaleString(language.value);

/** A total of a search: exact up to 10,000. */
export const total = (page: { totalItems: number; hasMoreTotalItems: boolean }): string =>
  number(page.totalItems) + (page.hasMoreTotalItems ? '+' : '');

export async function setLanguage(to: Language): Promise<void> {
  catalogue.value = to === 'en' ? en : await LOADERS[to]();
  language.value = to;
  document.documentElement.lang = to;
}

/** The language that the user chose, else the first of the browser's that the console has. */
export function preferred(stored: string | null, wanted: readonly string[]): Language {
  const known = (code: string): code is Language => code in LANGUAGES;
  const codes = [stored ?? '', ...wanted].map((code) => code.slice(0, 2).toLowerCase());
  return codes.find(known) ?? 'en';
}
