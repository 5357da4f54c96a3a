// Texts of the console in the user's language. A missing text does not compile. Data of users are never translated.
import { batch, signal } from '@preact/signals';
import { en } from '../locales/en.ts';
import type { later } from '../locales/later/en.ts';

export type Key = keyof typeof en | keyof typeof later;
export type Catalogue = Record<keyof typeof en, string>;
export type Later = Record<keyof typeof later, string>;
export const LANGUAGES = { en: 'English', es: 'Español', pt: 'Português' } as const;
export type Language = keyof typeof LANGUAGES;
/** The things that a list counts. Its text has the singular and the plural. */
export type Counted = Extract<Key, `count.${string}`>;

/** All texts of a language. The first page needs only a part, which it has in English. */
const LOADERS: Record<Language, () => Promise<Record<Key, string>>> = {
  en: async () => ({ ...en, ...(await import('../locales/later/en.ts')).later }),
  es: async () => {
    const [first, rest] = await Promise.all([import('../locales/es.ts'), import('../locales/later/es.ts')]);
    return { ...first.es, ...rest.later };
  },
  pt: async () => {
    const [first, rest] = await Promise.all([import('../locales/pt.ts'), import('../locales/later/pt.ts')]);
    return { ...first.pt, ...rest.later };
  },
};
export const language = signal<Language>('en');
const catalogue = signal(en as Record<Key, string>); // a page with the other texts waits for `loadTexts`
let wanted: Language = 'en';
let whole: Promise<void> | null = null;

async function load(to: Language): Promise<void> {
  const found = await LOADERS[to]();
  if (to !== wanted) return whole ?? undefined; // another language was chosen meanwhile
  batch(() => {
    catalogue.value = found;
    language.value = to;
  });
  document.documentElement.lang = to;
}

function loading(): Promise<void> {
  const mine = load(wanted);
  whole = mine;
  mine.catch(() => {
    if (whole === mine) whole = null; // the next page tries again
  });
  return mine;
}

/** Wait for all texts of the language. Rejects if they cannot be loaded. */
export const loadTexts = (): Promise<void> => whole ?? loading();

/** The text of a key, with `{name}` replaced. */
export function t(key: Key, values: Record<string, string | number> = {}): string {
  return catalogue.value[key].replace(/\{(\w+)\}/g, (whole, name: string) => String(values[name] ?? whole));
}

export const number = (n: number): string => n.toLocaleString(language.value);

/** A total of a search: exact up to 10,000. */
export const total = (page: { totalItems: number; hasMoreTotalItems: boolean }): string =>
  number(page.totalItems) + (page.hasMoreTotalItems ? '+' : '');

/** A total with what it counts, such as "1 process" or "11 processes". */
export function counted(of: Counted, page: { totalItems: number; hasMoreTotalItems: boolean }): string {
  const [one, other] = catalogue.value[of].split('|') as [string, string];
  const isOne = !page.hasMoreTotalItems && new Intl.PluralRules(language.value).select(page.totalItems) === 'one';
  return `${total(page)} ${isOne ? one : other}`;
}

/** Show another language as soon as it is loaded. The first page has its texts in English already. */
export async function setLanguage(to: Language): Promise<void> {
  const isFirst = whole === null && wanted === 'en' && to === 'en';
  wanted = to;
  if (isFirst) document.documentElement.lang = to;
  else await loading();
}

/** The language that the user chose, else the first of the browser's that the console has. */
export function preferred(stored: string | null, wanted: readonly string[]): Language {
  const known = (code: string): code is Language => code in LANGUAGES;
  const codes = [stored ?? '', ...wanted].map((code) => code.slice(0, 2).toLowerCase());
  return codes.find(known) ?? 'en';
}
