// The preview of a migration, and the act: for one instance, or for all that a filter selects as a batch operation.
import type { Signal } from '@preact/signals';
import { type ElementProblem, search } from '../../lib/api.ts';
import { BATCH_OF, openBatch } from '../../lib/batches.ts';
import { t, total } from '../../lib/i18n.ts';
import { dryRunInto, tagOf } from '../../lib/operations/dry_run.ts';
import { migrateAll, migrationOf, type Plan } from '../../lib/operations/migration.ts';
import { useResource } from '../../lib/resource.ts';
import { go, href } from '../../lib/router.ts';
import { UPDATE_INSTANCE } from '../../lib/session.ts';
import type { Definition, Instance } from '../../lib/shapes.ts';
import { ActionDialog } from '../../parts/action.tsx';
import { Opening } from '../../parts/opening.tsx';
import { ProblemBox } from '../../parts/problem.tsx';
import { useAsked } from '../operations/asked.ts';
import { Preview } from '../operations/preview.tsx';
import { Problems } from '../operations/problems.tsx';
import { Foresee } from '../operations/trial.tsx';
import type { Subject } from './wizard.tsx';

type RunProps = {
  from: Definition;
  to: Definition;
  subject: Subject;
  plan: Plan;
  /** Whether there is something to send, and all of it is known. */
  ready: boolean;
  problems: Signal<readonly ElementProblem[]>;
  name: (id: string) => string;
};

function One({ instance, to, plan, ready, problems, name, from }: RunProps & { instance: string }) {
  const command = migrationOf(instance, plan);
  const { ask, busy, failed, answer } = useAsked(command, dryRunInto(problems));
  return (
    <>
      <div class="row">
        <button type="button" disabled={!ready || busy} onClick={() => void ask()}>
          {t('preview')}
        </button>
        <Opening
          need={UPDATE_INSTANCE}
          of={from.processDefinitionId}
          class="primary"
          disabled={!ready}
          text={t('migrate.do')}
        >
          {(close) => (
            <ActionDialog
              title={t('migrate.instance')}
              button={t('migrate.do')}
              commands={[command]}
              {...(answer && { version: tagOf(answer) })}
              onProblem={(problem) => {
                problems.value = problem.problems;
                if (problem.problems.length) close();
              }}
              onClose={close}
              onDone={() => go(href(`/instances/${instance}`))}
            >
              <p>{t('migrate.note', { name: to.name ?? to.processDefinitionId, version: to.version })}</p>
            </ActionDialog>
          )}
        </Opening>
      </div>
      {failed && <ProblemBox problem={failed} />}
      <Problems of={problems.value} />
      {answer && !answer.problems.length && <Preview of={answer} name={name} />}
    </>
  );
}

function All({ from, to, subject, plan, ready }: RunProps) {
  const { filter } = subject;
  const count = useResource(
    `count ${JSON.stringify(filter)}`,
    (abort) => search<Instance>('process-instances', { filter, page: { limit: 1 } }, abort),
    ['instances'],
  ).data.value;
  const title = t('migrate.all', { n: count ? total(count.page) : '…' });
  const command = migrateAll(from.processDefinitionKey, filter, plan);
  return (
    <Foresee command={command} disabled={!ready}>
      <Opening need={BATCH_OF('MIGRATE_PROCESS_INSTANCE')} class="primary" disabled={!ready} text={title}>
        {(close) => (
          <ActionDialog title={title} button={title} commands={[command]} onClose={close} onDone={openBatch}>
            <p>{t('migrate.note', { name: to.name ?? to.processDefinitionId, version: to.version })}</p>
            <p class="dim">{t('batch.note')}</p>
          </ActionDialog>
        )}
      </Opening>
    </Foresee>
  );
}

export function Run(props: RunProps) {
  return props.subject.instance ? <One {...props} instance={props.subject.instance} /> : <All {...props} />;
}
