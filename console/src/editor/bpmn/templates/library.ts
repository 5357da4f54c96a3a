// The element templates that the editor offers: those of the server's own connectors, of deployed files, and of files that were opened here.
import purify from 'dompurify';
import { get, Problem, search } from '../../../lib/api.ts';
import { t } from '../../../lib/i18n.ts';
import connectors from './connectors.json';
import httpJson from './http_json.json';

/** The part of a template that this console reads. The library checks the rest against the schema. */
export type Template = { id: string; name: string; version?: number; description?: string; icon?: unknown };
/** `problems`: why some templates, or all of a file, are not offered. */
export type Library = { templates: Template[]; problems: string[] };

type Stored = { resourceKey: string; resourceId: string; resourceName: string; version: number; tenantId: string };

/** The name that deployed files with templates have, such as `element-templates/mail.json`. */
const NAMES = '*element-template*.json';
const MOST_FILES = 100;
const MOST_BYTES = 4 * 1024 * 1024;

export const BUILT_IN: readonly Template[] = [httpJson, ...connectors];

/** The files that were opened here, until the tab is loaded again: name → text. */
const here = new Map<string, string>();

/** The members whose HTML the panel of properties shows. */
const HTML = ['description', 'tooltip'];
const SAFE = {
  ALLOWED_TAGS: ['a', 'b', 'br', 'code', 'em', 'i', 'li', 'ol', 'p', 'pre', 'span', 'strong', 'ul'],
  ALLOWED_ATTR: ['href', 'target', 'rel'],
  ALLOWED_URI_REGEXP: /^(https?|mailto):/i,
};

/** A value with nothing in its texts that would run, or be asked for elsewhere, as pictures would. */
function safe(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(safe);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).map(([name, item]) =>
    HTML.includes(name) && typeof item === 'string' ? [name, purify.sanitize(item, SAFE)] : [name, safe(item)],
  );
  return Object.fromEntries(kept);
}

/** A template as it can be shown. An icon elsewhere is left out: the policy of the pages refuses it. */
function shown(template: Template): Template {
  const { icon, ...rest } = safe(template) as Template;
  const contents = (icon as { contents?: unknown } | null | undefined)?.contents;
  return typeof contents === 'string' && /^data:image\//i.test(contents) ? { ...rest, icon } : rest;
}

/** The text of a description. */
export const plain = (html: string): string =>
  new DOMParser().parseFromString(purify.sanitize(html, SAFE), 'text/html').body.textContent ?? '';

const isObject = (value: unknown): value is Template =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The templates in a file: one, or a list. */
export function templatesIn(name: string, text: string): Library {
  if (text.length > MOST_BYTES) return { templates: [], problems: [t('templates.tooLarge', { name })] };
  let found: unknown;
  try {
    found = JSON.parse(text);
  } catch (error) {
    return { templates: [], problems: [t('templates.notJson', { name, why: (error as Error).message })] };
  }
  const all = Array.isArray(found) ? found : [found];
  const isWrong = all.length === 0 || !all.every(isObject);
  if (isWrong) return { templates: [], problems: [t('templates.notTemplates', { name })] };
  return { templates: all.map(shown), problems: [] };
}

const joined = (parts: readonly Library[]): Library => ({
  templates: parts.flatMap((part) => part.templates),
  problems: parts.flatMap((part) => part.problems),
});

/** Keep a file until the tab is loaded again. */
export const addFile = (name: string, text: string): void => void here.set(name, text);

async function read({ resourceKey, resourceName }: Stored): Promise<Library> {
  const content = await get<unknown>(`/v2/resources/${resourceKey}/content/binary`);
  return templatesIn(resourceName, typeof content === 'string' ? content : JSON.stringify(content));
}

/** The newest version of each deployed file of a tenant that has templates. */
async function deployed(tenantId: string): Promise<Library> {
  const { items, page } = await search<Stored>('resources', {
    filter: { resourceName: { $like: NAMES } },
    sort: [{ field: 'version', order: 'DESC' }],
    page: { limit: MOST_FILES },
  });
  const own = items.filter((one) => one.tenantId === tenantId);
  const newest = own.filter((one, i) => own.findIndex(({ resourceId }) => resourceId === one.resourceId) === i);
  const all = joined(await Promise.all(newest.map(read)));
  if (page.totalItems > items.length) all.problems.push(t('templates.tooMany', { n: MOST_FILES }));
  return all;
}

/** All that are offered for models of a tenant. A server that does not answer leaves those that need none, and a problem. */
export async function library(tenantId: string): Promise<Library> {
  const stored = await deployed(tenantId).catch((error: unknown) => {
    if (!(error instanceof Problem)) throw error;
    return { templates: [], problems: [t('templates.notRead', { why: error.detail || error.title })] };
  });
  const opened = [...here].map(([name, text]) => templatesIn(name, text));
  return joined([{ templates: [...BUILT_IN], problems: [] }, stored, ...opened]);
}
