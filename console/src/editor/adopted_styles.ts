// The editor of expressions makes its styles when it runs. In a document it would insert a style element, which the policy of the server
// forbids, as it forbids those of a foreign script. A constructed style sheet is not inserted from text, and is allowed.
import { StyleModule } from 'style-mod';

const mounted = new WeakMap<StyleModule, CSSStyleSheet>();

function sheetOf(style: StyleModule): CSSStyleSheet {
  const known = mounted.get(style);
  if (known) return known;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style.getRules());
  mounted.set(style, sheet);
  return sheet;
}

/** The given order counts: of two rules, the later one wins. */
function mount(root: Document | ShadowRoot | DocumentOrShadowRoot, styles: StyleModule | readonly StyleModule[]): void {
  const wanted = [styles].flat().map((style) => sheetOf(style as StyleModule));
  root.adoptedStyleSheets = [...root.adoptedStyleSheets.filter((sheet) => !wanted.includes(sheet)), ...wanted];
}

/** Let all editors of text of this page have their styles so. */
export function adoptStyles(): void {
  StyleModule.mount = mount;
}

/** Use a style sheet of the server until the answer is called. Two editors bring panels of properties of different releases. */
export async function useSheet(href: string): Promise<() => void> {
  const link = Object.assign(document.createElement('link'), { rel: 'stylesheet', href });
  await new Promise((resolve) => {
    link.onload = resolve;
    link.onerror = resolve;
    document.head.append(link);
  });
  return () => link.remove();
}
