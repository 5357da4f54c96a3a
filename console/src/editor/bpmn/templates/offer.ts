// The part of the modeler that offers element templates: the chosen element, what fits it, and what is wrong with the others.
import { signal } from '@preact/signals';
import { CloudElementTemplatesValidator as Validator } from 'bpmn-js-element-templates';
import { t } from '../../../lib/i18n.ts';
import type { Template } from './library.ts';

type Element = { id: string };
type Service = {
  set(templates: readonly Template[]): void;
  getLatest(element: Element): Template[];
  applyTemplate(element: Element, template: Template): unknown;
};
type Bus = { on<E>(name: string, call: (event: E) => void): void };

/** Those that are right, and why others are not. The library trips over some faults instead of telling them. */
function checked(all: readonly Template[], moddle: object): { valid: Template[]; problems: string[] } {
  const validator = new Validator(moddle);
  const told: string[] = [];
  const nameOf = ({ name, id }: Partial<Template>): string => String(name ?? id ?? '?');
  for (const template of all)
    try {
      validator.add(template);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      told.push(t('templates.malformed', { name: nameOf(template) }));
    }
  const problems = validator.getErrors().map(({ message, template }) => `${nameOf(template ?? {})}: ${message}`);
  return { valid: validator.getValidTemplates(), problems: [...told, ...problems] };
}

/** The service of the library with this name. */
type Services = <T>(name: string) => T;

export type Offer = ReturnType<typeof offerOf>;

export function offerOf(service: Services) {
  const wanting = signal<{ element: Element; fitting: Template[] } | null>(null);
  const problems = signal<string[]>([]);
  const templates = service<Service>('elementTemplates');
  const bus = service<Bus>('eventBus');
  bus.on<{ element: Element }>('elementTemplates.select', ({ element }) => {
    wanting.value = { element, fitting: templates.getLatest(element) };
  });
  return {
    /** The element that gets one of the templates that fit it; null: nobody asked. */
    wanting,
    /** Why the library refused some of them. */
    problems,
    /** Offer these and no others. */
    set(all: readonly Template[]): void {
      const found = checked(all, service<object>('moddle'));
      problems.value = found.problems;
      templates.set(found.valid);
      const asked = wanting.peek();
      if (asked) wanting.value = { ...asked, fitting: templates.getLatest(asked.element) };
    },
    apply(template: Template): void {
      const { element } = wanting.peek()!;
      wanting.value = null;
      templates.applyTemplate(element, template);
    },
    cancel(): void {
      wanting.value = null;
    },
  };
}
