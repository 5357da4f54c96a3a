// The actions on a whole instance: cancel it, suspend it, set variables, retry its incidents.
import { useSignal } from '@preact/signals';
import { get, search } from '../lib/api.ts';
import { argument } from '../lib/commands.ts';
import { curesOf } from '../lib/cures.ts';
import { t } from '../lib/i18n.ts';
import { type Now, versionOf } from '../lib/instance.ts';
import { exact, variablesOf } from '../lib/json.ts';
import { go, href, put, query } from '../lib/router.ts';
import { CANCEL_INSTANCE, DELETE_INSTANCE, MODIFY_INSTANCE, UPDATE_INSTANCE } from '../lib/session.ts';
import type { Instance, Variable } from '../lib/shapes.ts';
import { Act } from '../parts/act.tsx';
import { ActionDialog, Asking, type Checked } from '../parts/action.tsx';
import { differences } from '../parts/conflict.tsx';
import { JsonArea } from '../parts/json_area.tsx';
import { Opening } from '../parts/opening.tsx';
import { BatchButton } from './batch.tsx';
import { SuspensionButton } from './suspension.tsx';
import { UndoButton } from './undo.tsx';

type Props = { now: Now; onClose: () => void };

/** An ended instance goes with the instances that it called. One that was called goes with its caller only. */
function DeleteButton({ instance }: { instance: Instance }) {
  const key = instance.processInstanceKey;
  return (
    <Asking
      need={DELETE_INSTANCE}
      of={instance.processDefinitionId}
      title={t('instance.delete')}
      note={t('instance.deleteNote')}
      command={{ method: 'POST', path: `/v2/process-instances/${key}/deletion`, cli: `delete ${key}` }}
      done={() => go(href('/instances', { state: 'all' }))}
    />
  );
}

/** The present values of variables of a scope, as compact JSON. */
async function valuesOf(scope: string, names: readonly string[]): Promise<Record<string, string>> {
  const found = await search<Variable>('variables', {
    filter: { scopeKey: scope, name: { $in: names } },
    page: { limit: names.length },
  });
  const whole = await Promise.all(
    found.items.map((one) => (one.isTruncated ? get<Variable>(`/v2/variables/${one.variableKey}`) : one)),
  );
  return Object.fromEntries(whole.map(({ name, value }) => [name, compact(exact(value))]));
}

const compact = (value: unknown): string => JSON.stringify(value);
const compacted = (values: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, compact(value)]));

type SetVariablesProps = { instance: Instance; scope: string; initial?: string; local?: boolean; onClose: () => void };

/** Set variables in a scope: the instance's, or an element's. `initial`: what is edited; whoever changed it meanwhile is not overwritten unseen. */
export function SetVariables({ instance, scope, initial = '{}', local = false, onClose }: SetVariablesProps) {
  const text = useSignal(initial);
  const found = variablesOf(text.value);
  const before = compacted(variablesOf(initial).value ?? {});
  const commands = [
    {
      method: 'PUT' as const,
      path: `/v2/element-instances/${scope}/variables`,
      body: { variables: found.value ?? {}, ...(local && { local }) },
      cli: `set ${scope} --variables ${argument(JSON.stringify(found.value ?? {}))}${local ? ' --local' : ''}`,
    },
  ];
  const check = async (): Promise<Checked> => {
    const mine = compacted(found.value ?? {});
    const edited = Object.keys(mine).filter((name) => name in before);
    if (!edited.length) return { differences: [] };
    const version = await versionOf(instance);
    const changed = differences(
      before,
      await valuesOf(scope, edited),
      Object.fromEntries(edited.map((name) => [name, mine[name]!])),
    );
    return { differences: changed, version };
  };
  return (
    <ActionDialog
      title={t('variables.set')}
      button={t('variables.set')}
      commands={commands}
      invalid={found.problem}
      check={check}
      onClose={onClose}
    >
      <JsonArea label={t('variables.json')} text={text} rows={8} />
    </ActionDialog>
  );
}

/** Retry the incidents of an instance, with mended variables if need be. */
export function Retry({ now, incidents, onClose }: Props & { incidents: Now['incidents'] }) {
  const text = useSignal('');
  const found = variablesOf(text.value);
  const commands = incidents.flatMap((incident) => curesOf(incident, found.value));
  return (
    <ActionDialog
      title={t('incident.retry')}
      button={t('incident.retry')}
      commands={commands}
      invalid={found.problem}
      onClose={onClose}
    >
      <ul class="messages">
        {incidents.map((incident) => (
          <li key={incident.incidentKey}>
            <b>{incident.elementId}</b> {incident.errorMessage}
          </li>
        ))}
      </ul>
      <JsonArea
        label={t('incident.mend')}
        text={text}
        rows={5}
        placeholder={argument(JSON.stringify({ [now.variables[0]?.name ?? 'name']: '…' })).slice(1, -1)}
      />
    </ActionDialog>
  );
}

/** `undoable`: whether the latest command may be one that can be undone. */
type ActionsProps = { now: Now; undoable: boolean; name: (id: string) => string };

export function InstanceActions({ now, undoable, name }: ActionsProps) {
  const { instance } = now;
  const { processDefinitionId: process, processInstanceKey: key } = instance;
  if (instance.endDate) return instance.parentProcessInstanceKey ? null : <DeleteButton instance={instance} />;
  const suspended = instance.state === 'SUSPENDED';
  return (
    <>
      {undoable && <UndoButton instance={instance} />}
      <Opening need={UPDATE_INSTANCE} of={process} text={t('variables.set')}>
        {(close) => <SetVariables instance={instance} scope={instance.processInstanceKey} onClose={close} />}
      </Opening>
      <Asking
        need={CANCEL_INSTANCE}
        of={process}
        title={t('instance.cancel')}
        note={t('instance.cancelNote')}
        command={{ method: 'POST', path: `/v2/process-instances/${key}/cancellation`, cli: `cancel ${key}` }}
      />
      {!suspended && (
        <Act
          need={MODIFY_INSTANCE}
          of={process}
          pressed={query.value.get('modify') !== null}
          onClick={() => put({ modify: query.value.get('modify') === null ? 1 : null })}
        >
          {t('modify.title')}
        </Act>
      )}
      {!suspended && (
        <a class="button" href={href('/migrate', { source: instance.processDefinitionKey, instance: key })}>
          {t('migrate.do')} …
        </a>
      )}
      <SuspensionButton instance={instance} name={name} />
      {now.incidentPage.totalItems > now.incidents.length && !suspended && (
        <BatchButton what="retry" filter={{ processInstanceKey: key }} total="1" />
      )}
      {now.incidents.length > 0 && now.incidentPage.totalItems <= now.incidents.length && !suspended && (
        <Opening need={UPDATE_INSTANCE} of={process} class="primary" text={t('incident.retry')}>
          {(close) => <Retry now={now} incidents={now.incidents} onClose={close} />}
        </Opening>
      )}
    </>
  );
}
