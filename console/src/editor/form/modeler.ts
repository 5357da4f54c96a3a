// The only importer of the editor of form-js.
import { FormEditor } from '@bpmn-io/form-js-editor';
import { signal } from '@preact/signals';
import '@bpmn-io/form-js-editor/dist/assets/form-js-editor-base.css';
import '@bpmn-io/form-js-editor/dist/assets/dragula.css';
import '@bpmn-io/form-js-viewer/dist/assets/form-js.css';
import panelSheet from '@bpmn-io/form-js-editor/dist/assets/properties-panel.css?url';
import '../../styles/bpmn_io.css';
import '../../forms/form.css';
import './form.css';
import { t } from '../../lib/i18n.ts';
import { adoptStyles, useSheet } from '../adopted_styles.ts';
import type { FormModeler, OnChange } from '../kinds.ts';
import { typedIsTaken } from '../typing.ts';

/** The panel of properties takes what somebody types after 300 ms, and for expressions once more. */
const TAKEN_MS = 620;

type Stack = { undo(): void; redo(): void; canUndo(): boolean; canRedo(): boolean };
type Registry = { get(id: string): object | undefined };
type Selection = { set(field: object): void };

type Values = Record<string, unknown>;
/** The texts as they are. The viewer asks for this service, and the editor, which is older, does not bring it. */
const translate = (text: string, values: Values = {}): string =>
  text.replace(/\{(\w+)\}/g, (placeholder, name: string) => String(values[name] ?? placeholder));

function schemaIn(content: string): object {
  const schema: unknown = JSON.parse(content);
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) throw new Error(t('editor.noForm'));
  return { type: 'default', components: [], ...schema };
}

/** Raises an error if the form cannot be read. */
export async function createModeler(
  host: HTMLElement,
  panel: HTMLElement,
  content: string,
  onChange: OnChange,
): Promise<FormModeler> {
  adoptStyles();
  const dropSheet = await useSheet(panelSheet);
  const schema = schemaIn(content);
  const editor = new FormEditor({
    container: host,
    propertiesPanel: { parent: panel },
    additionalModules: [{ translate: ['value', translate] }],
  } as never);
  const service = <T>(name: string): T => editor.get<T>(name);
  let lost: string[];
  try {
    lost = (await editor.importSchema(schema as never)).warnings.map((warning: Error) => warning.message);
  } catch (error) {
    editor.destroy();
    dropSheet();
    throw error;
  }
  const text = (): string => `${JSON.stringify(editor.saveSchema(), null, 2)}\n`;
  const shown = signal(text());
  const stack = service<Stack>('commandStack');
  editor.on('commandStack.changed', (() => {
    shown.value = text();
    onChange({ canUndo: stack.canUndo(), canRedo: stack.canRedo() }, true);
  }) as never);
  return {
    kind: 'form',
    lost,
    schema: shown,
    async content() {
      await typedIsTaken(TAKEN_MS);
      return text();
    },
    title: () => String((editor.getSchema() as { id?: string }).id ?? ''),
    mark: () => {},
    select(id) {
      const field = service<Registry>('formFieldRegistry').get(id);
      if (field) service<Selection>('selection').set(field);
    },
    undo: () => stack.undo(),
    redo: () => stack.redo(),
    destroy() {
      editor.destroy();
      dropSheet();
    },
  };
}
