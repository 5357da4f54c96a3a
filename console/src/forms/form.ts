// The only importer of form-js: renders a form of Camunda's, and gives what was entered once it is valid.
import { Form } from '@bpmn-io/form-js-viewer';
import '@bpmn-io/form-js-viewer/dist/assets/form-js.css';
import './form.css';

type Component = { type?: string; components?: Component[] };
type Inner = { _getSubmitData(): Record<string, unknown> };
type Submitted = { data: Record<string, unknown>; errors: Record<string, unknown> };

/** Buttons that submit are left out: the page has its own, which is always in the same place. */
function withoutSubmit(components: Component[] = []): Component[] {
  return components
    .filter((component) => component.type !== 'button' || (component as { action?: string }).action !== 'submit')
    .map((component) =>
      component.components ? { ...component, components: withoutSubmit(component.components) } : component,
    );
}

/** Raises an error if the schema is not one of a form. */
export async function createForm(
  host: HTMLElement,
  schema: string,
  data: Record<string, unknown>,
  onSubmit: (data: Record<string, unknown>) => void,
) {
  const parsed = JSON.parse(schema) as Component;
  // Without a pause before values are taken over: a value of one field that arrives late resets what is being typed into the next.
  const form = new Form({ container: host, debounce: false } as never);
  await form.importSchema({ type: 'default', ...parsed, components: withoutSubmit(parsed.components) } as never, data);
  form.on('submit', ((event: Submitted) => {
    if (!Object.keys(event.errors).length) onSubmit(event.data);
  }) as never);
  const submit = (): void => {
    form.submit();
    requestAnimationFrame(() => host.querySelector<HTMLElement>('[aria-invalid=true]')?.focus());
  };
  /** What would be submitted now. Its valid and invalid fields alike. */
  const now = (): Record<string, unknown> => (form as unknown as Inner)._getSubmitData();
  const watch = (changed: () => void): void => {
    form.on('changed', changed as never);
  };
  return {
    submit,
    now,
    watch,
    lock: (locked: boolean) => form.setProperty('readOnly', locked),
    destroy: () => form.destroy(),
  };
}
