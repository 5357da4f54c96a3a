// Start an instance: by the start form of the process, or with JSON.

import { useSignal } from '@preact/signals';
import { send } from '../lib/api.ts';
import { argument, type Command, perform } from '../lib/commands.ts';
import { t } from '../lib/i18n.ts';
import { variablesOf } from '../lib/json.ts';
import { useResource } from '../lib/resource.ts';
import { go, href } from '../lib/router.ts';
import { CREATE_INSTANCE } from '../lib/session.ts';
import type { Definition, Form } from '../lib/shapes.ts';
import { ActionDialog } from '../parts/action.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { Field } from '../parts/field.tsx';
import { FormView } from '../parts/form.tsx';
import { JsonArea } from '../parts/json_area.tsx';
import { Opening } from '../parts/opening.tsx';
import { tenantOf } from '../parts/tenant.tsx';
import { StartBefore } from './start_before.tsx';

type Created = { processInstanceKey: string };
type StartProps = { definition: Definition; onClose: () => void };

const created = (answer: unknown): void => go(href(`/instances/${(answer as Created).processInstanceKey}`));

function commandOf(
  definition: Definition,
  variables: Record<string, unknown>,
  businessId: string,
  before: readonly string[] = [],
): Command {
  const given = Object.keys(variables).length ? ` --variables ${argument(JSON.stringify(variables))}` : '';
  const named = businessId ? ` --business-id ${argument(businessId)}` : '';
  const instructions = before.length ? { startInstructions: before.map((elementId) => ({ elementId })) } : {};
  const body = {
    processDefinitionKey: definition.processDefinitionKey,
    variables,
    ...(businessId && { businessId }),
    ...tenantOf(definition.tenantId),
    ...instructions,
  };
  const command: Command = { method: 'POST', path: '/v2/process-instances', body };
  return before.length || 'tenantId' in body
    ? command
    : {
        ...command,
        cli: `start ${argument(definition.processDefinitionId)} --version ${definition.version}${given}${named}`,
      };
}

function StartByJson({ definition, onClose }: StartProps) {
  const text = useSignal('');
  const businessId = useSignal('');
  const before = useSignal<string[]>([]);
  const found = variablesOf(text.value);
  return (
    <ActionDialog
      title={t('start')}
      button={t('start')}
      commands={[commandOf(definition, found.value ?? {}, businessId.value, before.value)]}
      invalid={found.problem}
      onClose={onClose}
      onDone={created}
    >
      <JsonArea label={t('variables.json')} text={text} rows={8} placeholder='{"orderId": "A-17"}' />
      <Field label={t('businessId')} value={businessId} />
      <StartBefore
        definition={definition}
        chosen={before.value}
        onChange={(ids) => {
          before.value = ids;
        }}
      />
    </ActionDialog>
  );
}

function StartByForm({ definition, form, onClose }: StartProps & { form: Form }) {
  const businessId = useSignal('');
  const submit = async (variables: Record<string, unknown>) => {
    const answer = await perform<Created>(t('start'), commandOf(definition, variables, businessId.value));
    if (answer) created(answer.body);
  };
  return (
    <Dialog title={t('start')} wide onClose={onClose}>
      <FormView
        schema={form.schema}
        data={{}}
        owner={{ processDefinitionId: definition.processDefinitionId, ...tenantOf(definition.tenantId) }}
        submit={t('start')}
        commandOf={(variables) => commandOf(definition, variables, businessId.value)}
        onSubmit={submit}
      >
        <Field label={t('businessId')} value={businessId} />
      </FormView>
    </Dialog>
  );
}

function Start({ definition, onClose }: StartProps) {
  const key = definition.processDefinitionKey;
  const found = useResource(`start form ${key}`, async (abort) => ({
    form: (await send<Form | ''>({ method: 'GET', path: `/v2/process-definitions/${key}/form` }, abort)).body || null,
  }));
  const form = found.data.value?.form;
  if (form === undefined && !found.problem.value) return null;
  return form ? (
    <StartByForm definition={definition} form={form} onClose={onClose} />
  ) : (
    <StartByJson definition={definition} onClose={onClose} />
  );
}

export function StartButton({ definition }: { definition: Definition }) {
  return (
    <Opening
      need={CREATE_INSTANCE}
      of={definition.processDefinitionId}
      class="primary"
      disabled={definition.state !== 'ACTIVE'}
      text={t('start')}
    >
      {(close) => <Start definition={definition} onClose={close} />}
    </Opening>
  );
}
