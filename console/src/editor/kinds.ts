// The kinds of models that can be edited, and what their editors have in common. Each editor is loaded when a model of its kind is opened.
import type { Signal } from '@preact/signals';
import { t } from '../lib/i18n.ts';
import { blankDecision, blankForm, blankProcess } from './blank.ts';
import type { Offer } from './bpmn/templates/offer.ts';

export type Edits = { canUndo: boolean; canRedo: boolean };

type Editable = {
  /** The model as a file. */
  content(): Promise<string>;
  /** The name of what is edited, or its id. */
  title(): string;
  /** The parts of the file that the library did not understand, and would leave out of the next one. */
  lost: readonly string[];
  /** Mark the elements that have problems. Some may not be drawn. */
  mark(ids: ReadonlySet<string>): void;
  /** Select an element, or what is shown if it is not drawn. */
  select(id: string): void;
  undo(): void;
  redo(): void;
  destroy(): void;
};
export type ProcessModeler = Editable & {
  kind: 'bpmn';
  templates: Offer;
  /** Show which elements a run has entered before, and which ones now. */
  trace(done: ReadonlySet<string>, now: ReadonlySet<string>): void;
  zoom(by: number): void;
  fit(): void;
};
type Named = { id: string; name: string };
export type DecisionModeler = Editable & {
  kind: 'dmn';
  /** The views: the diagram, and the logic of an element. `decisions`: all of them, also those without logic. */
  views: Signal<{ shown: string; all: Named[]; decisions: Named[] }>;
  open(view: string): Promise<void>;
};
export type FormModeler = Editable & {
  kind: 'form';
  /** The form as a file, as it is now. */
  schema: Signal<string>;
};
export type Modeler = ProcessModeler | DecisionModeler | FormModeler;
export type Kind = Modeler['kind'];

/** `isModel`: whether the model has changed, too. */
export type OnChange = (edits: Edits, isModel: boolean) => void;
/** Raises an error if the model cannot be read. `panel`: for properties. */
export type Create = (host: HTMLElement, panel: HTMLElement, content: string, onChange: OnChange) => Promise<Modeler>;

/** The kind of a file, whatever its name is. */
export function kindOf(content: string): Kind {
  if (/^\s*\{/.test(content)) return 'form';
  return /<[^>]*"https?:\/\/www\.omg\.org\/spec\/DMN\//.test(content) ? 'dmn' : 'bpmn';
}

type KindOfModel = {
  create: () => Promise<Create>;
  blank: (id: string) => string;
  prefix: string;
  type: string;
  title: () => string;
  crumbs: [string, 'nav.processes' | 'nav.decisions' | 'nav.resources'];
};

export const KINDS: Record<Kind, KindOfModel> = {
  bpmn: {
    create: async () => (await import('./bpmn/modeler.ts')).createModeler,
    blank: blankProcess,
    prefix: 'process',
    type: 'application/xml',
    title: () => t('editor.new'),
    crumbs: ['/processes', 'nav.processes'],
  },
  dmn: {
    create: async () => (await import('./dmn/modeler.ts')).createModeler,
    blank: blankDecision,
    prefix: 'decision',
    type: 'application/xml',
    title: () => t('editor.newDecision'),
    crumbs: ['/decisions', 'nav.decisions'],
  },
  form: {
    create: async () => (await import('./form/modeler.ts')).createModeler,
    blank: blankForm,
    prefix: 'form',
    type: 'application/json',
    title: () => t('editor.newForm'),
    crumbs: ['/resources?state=forms', 'nav.resources'],
  },
};
