// The actions on the model that is edited: take it from a file and to a file, deploy it, start it.
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { get } from '../lib/api.ts';
import { deploy, type Outcome } from '../lib/deployments.ts';
import { t } from '../lib/i18n.ts';
import { href } from '../lib/router.ts';
import { DEPLOY } from '../lib/session.ts';
import type { Definition } from '../lib/shapes.ts';
import { decisionUrl, processUrl } from '../lib/urls.ts';
import { StartButton } from '../pages/start.tsx';
import { Act } from '../parts/act.tsx';
import { ProblemBox } from '../parts/problem.tsx';
import { tenantOf } from '../parts/tenant.tsx';
import { KINDS, kindOf } from './kinds.ts';
import type { Source } from './validation.ts';

const MODELS = '.bpmn,.dmn,.form,.xml';

export function OpenFile({ onOpen }: { onOpen: (name: string, content: string) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" onClick={() => input.current!.click()}>
        {t('editor.open')} …
      </button>
      <input
        ref={input}
        type="file"
        accept={MODELS}
        hidden
        aria-label={t('editor.open')}
        onChange={async (event) => {
          const file = event.currentTarget.files?.[0];
          event.currentTarget.value = '';
          if (file) onOpen(file.name, await file.text());
        }}
      />
    </>
  );
}

/** Let the browser save the model. */
function save({ name, content }: Source): void {
  const url = URL.createObjectURL(new Blob([content], { type: KINDS[kindOf(content)].type }));
  const link = Object.assign(document.createElement('a'), { href: url, download: name });
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(url));
}

export const Export = ({ source }: { source: () => Promise<Source> }) => (
  <button type="button" onClick={async () => save(await source())}>
    {t('editor.export')}
  </button>
);

/** `onDone`: with the first process that was deployed. */
export function DeployButton({
  source,
  disabled,
  onOutcome,
}: {
  source: () => Promise<Source>;
  disabled: boolean;
  onOutcome: (outcome: Outcome, deployed: Definition | null) => void;
}) {
  const busy = useSignal(false);
  const run = async () => {
    busy.value = true;
    try {
      const { name, content, tenantId } = await source();
      const outcome = await deploy([new File([content], name)], tenantOf(tenantId));
      const of = outcome.done?.deployments.find((one) => one.processDefinition)?.processDefinition;
      const key = of?.processDefinitionKey;
      onOutcome(outcome, key ? await get<Definition>(`/v2/process-definitions/${key}`).catch(() => null) : null);
    } finally {
      busy.value = false;
    }
  };
  return (
    <Act need={DEPLOY} class="primary" disabled={disabled || busy.value} onClick={() => void run()}>
      {t('nav.deploy')}
    </Act>
  );
}

/** The outcome of the deployment: the process to start, the decisions, or why there is none. */
export function Deployed({ outcome, definition }: { outcome: Outcome; definition: Definition | null }) {
  if (outcome.problem) return <ProblemBox problem={outcome.problem} />;
  const decisions = outcome.done!.deployments.flatMap(({ decisionDefinition: of }) => of ?? []);
  const forms = outcome.done!.deployments.flatMap(({ form }) => form ?? []);
  if (!definition)
    return (
      <p class="ok">
        {t('deploy.done')}
        {decisions.map(({ decisionDefinitionId: id, tenantId, name, version }) => (
          <span key={id}>
            {' · '}
            <a href={decisionUrl(id, tenantId)}>{name || id}</a> v{version}
          </span>
        ))}
        {forms.map(({ formId, formKey, version }) => (
          <span key={formKey}>
            {' · '}
            <a href={href(`/resources/forms/${formKey}`)}>{formId}</a> v{version}
          </span>
        ))}
      </p>
    );
  return (
    <div class="row">
      <p class="ok">
        {t('deploy.done')}:{' '}
        <a href={processUrl(definition.processDefinitionId, definition.tenantId)}>
          {definition.name ?? definition.processDefinitionId}
        </a>{' '}
        v{definition.version}
      </p>
      <StartButton definition={definition} />
    </div>
  );
}
