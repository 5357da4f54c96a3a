// Renders a form of Camunda's by form-js, and gives what was entered once it is valid and its files are stored.
import { Form, type FormFields } from '@bpmn-io/form-js-viewer';
import '@bpmn-io/form-js-viewer/dist/assets/form-js.css';
import '../styles/bpmn_io.css';
import './form.css';
import { Problem } from '../lib/api.ts';
import type { Owner } from '../lib/documents.ts';
import { documentPreview } from './document_preview.tsx';
import { filePicker } from './file_picker.tsx';
import { chosenFiles, type Files } from './files.ts';

type Component = { type?: string; components?: Component[] };
type Inner = { _getSubmitData(): Record<string, unknown> };
type Submit = (data: Record<string, unknown>) => void | Promise<void>;
type Submitted = { data: Record<string, unknown>; errors: Record<string, unknown> };

/** Buttons that submit are left out: the page has its own, which is always in the same place. */
function withoutSubmit(components: Component[] = []): Component[] {
  return components
    .filter((component) => component.type !== 'button' || (component as { action?: string }).action !== 'submit')
    .map((component) =>
      component.components ? { ...component, components: withoutSubmit(component.components) } : component,
    );
}

/** Our own fields where those of form-js lack something. */
const ownFields = (files: Files, tenantId: string | undefined) => {
  const add = (fields: FormFields) => {
    fields.register('filepicker', filePicker(files));
    fields.register('documentPreview', documentPreview(tenantId));
    return fields;
  };
  add.$inject = ['formFields'];
  return { __init__: ['ownFields'], ownFields: ['factory', add] };
};

/** `owner`: of the documents that its files become. `onSubmit`: null for a preview, of which no file is stored. Raises an error if the schema is not one of a form. */
export async function createForm(
  host: HTMLElement,
  schema: string,
  data: Record<string, unknown>,
  owner: Owner,
  onSubmit: Submit | null,
) {
  const files = chosenFiles(owner);
  const left = new AbortController();
  let sending = false;

  const parsed = JSON.parse(schema) as Component;
  // Without a pause before values are taken over: a value of one field that arrives late resets what is being typed into the next.
  const form = new Form({
    container: host,
    debounce: false,
    additionalModules: [ownFields(files, owner.tenantId)],
  } as never);
  await form.importSchema({ type: 'default', ...parsed, components: withoutSubmit(parsed.components) } as never, data);
  form.on('submit', ((event: Submitted) => {
    if (onSubmit && !Object.keys(event.errors).length) void send(event.data, onSubmit);
  }) as never);
  const toFault = () => requestAnimationFrame(() => host.querySelector<HTMLElement>('[aria-invalid=true]')?.focus());
  /** Once, whatever is pressed meanwhile. */
  const send = async (entered: Record<string, unknown>, onSubmit: Submit): Promise<void> => {
    if (sending) return;
    sending = true;
    try {
      await onSubmit(await files.stored(entered, left.signal));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      toFault(); // the field tells it
    } finally {
      sending = false;
    }
  };
  const submit = (): void => {
    if (sending) return;
    form.submit();
    toFault();
  };
  /** The data that would be submitted now. Its valid and invalid fields alike. */
  const now = () => files.shown((form as unknown as Inner)._getSubmitData());
  const watch = (changed: () => void): void => {
    form.on('changed', changed as never);
  };
  return {
    submit,
    now,
    watch,
    sending: files.sending,
    lock: (locked: boolean) => form.setProperty('readOnly', locked),
    destroy: () => {
      left.abort();
      form.destroy();
    },
  };
}
