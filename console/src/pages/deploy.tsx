// Deploy: files are dropped anywhere on the console, or chosen here. Problems are listed with their lines, and drawn on the diagram.
import { useComputed, useSignal, useSignalEffect } from '@preact/signals';
import type { Badges } from '../diagram/badges.ts';
import { Canvas } from '../diagram/canvas.tsx';
import { type Marks, NOTHING } from '../diagram/marks.ts';
import { type Deployed, deploy, type Outcome } from '../lib/deployments.ts';
import { dragging, dropped } from '../lib/drop.ts';
import { t } from '../lib/i18n.ts';
import { type Located, problemsOf } from '../lib/problems.ts';
import { DEPLOY } from '../lib/session.ts';
import { decisionUrl, processUrl } from '../lib/urls.ts';
import { lackOf } from '../parts/act.tsx';
import { CopyCommands } from '../parts/copy_commands.tsx';
import { Head } from '../parts/head.tsx';
import { ProblemBox } from '../parts/problem.tsx';
import { firstTenant, TenantChoice, tenantOf } from '../parts/tenant.tsx';

/** Whether the page draws a file with its problems. */
const isDrawn = (file: string): boolean => /\.(bpmn|xml)$/i.test(file);

const badges: Badges = (mark) => ({ left: null, right: mark.incidents ? { text: '!', tone: 'bad' } : null });

function Problems({ located, texts }: { located: Located[]; texts: Map<string, string> }) {
  const selected = useSignal<string | null>(null);
  const first = located.find((one) => one.element) ?? located.find((one) => isDrawn(one.file)) ?? located[0]!;
  const of = located.filter((one) => one.file === first.file);
  const xml = texts.get(first.file);
  const marks = useComputed<Marks>(() => ({
    ...NOTHING,
    elements: new Map(
      of
        .filter((one) => one.element)
        .map((one) => [one.element!, { active: 0, incidents: 1, completed: 0, canceled: 0 }]),
    ),
  })).value;
  return (
    <div class="problems">
      <ol class="groups" aria-label={t('deploy.problems')}>
        {located.map((one, i) => (
          <li key={i} class="group">
            <div class="about">
              <p class="kind">
                <b>{one.file}</b>
                {one.line && <> · {t('deploy.line', { n: one.line })}</>}
                {one.element && (
                  <>
                    {' '}
                    ·{' '}
                    <button
                      type="button"
                      class="link"
                      onClick={() => {
                        selected.value = one.element;
                      }}
                    >
                      {one.element}
                    </button>
                  </>
                )}
              </p>
              <p class="message">{one.text}</p>
            </div>
          </li>
        ))}
      </ol>
      {xml && isDrawn(first.file) && (
        <Canvas
          xml={xml}
          marks={marks}
          badges={badges}
          selected={selected.value}
          onSelect={(id) => {
            selected.value = id;
          }}
        />
      )}
    </div>
  );
}

function Done({ done }: { done: Deployed }) {
  return (
    <div class="done">
      <h2>{t('deploy.done')}</h2>
      <ul>
        {done.deployments.map(({ processDefinition: d, decisionDefinition: decision, form: f, resource: r }) =>
          decision ? (
            <li key={`decision ${decision.decisionDefinitionId}`}>
              {t('decision')}{' '}
              <a href={decisionUrl(decision.decisionDefinitionId, decision.tenantId)}>
                {decision.decisionDefinitionId}
              </a>{' '}
              <span class="dim">v{decision.version}</span>
            </li>
          ) : f ? (
            <li key={`form ${f.formId}`}>
              {t('deploy.form')} {f.formId}{' '}
              <span class="dim">
                v{f.version} · {f.resourceName}
              </span>
            </li>
          ) : r ? (
            <li key={`resource ${r.resourceId}`}>
              {t('deploy.resource')}{' '}
              <a href={`/v2/resources/${r.resourceKey}/content/binary`} download>
                {r.resourceId}
              </a>{' '}
              <span class="dim">
                v{r.version} · {r.resourceName}
              </span>
            </li>
          ) : (
            d && (
              <li key={d.processDefinitionId}>
                <a href={processUrl(d.processDefinitionId, d.tenantId)}>{d.processDefinitionId}</a>{' '}
                <span class="dim">
                  v{d.processDefinitionVersion} · {d.resourceName}
                </span>
              </li>
            )
          ),
        )}
      </ul>
      {done.warnings.length > 0 && (
        <>
          <h3>{t('deploy.warnings')}</h3>
          <ul class="messages">
            {done.warnings.map((warning) => (
              <li key={warning}>{warning}</li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}

export function Deploy() {
  const outcome = useSignal<Outcome | null>(null);
  const busy = useSignal(false);
  const tenant = useSignal('');
  const lack = lackOf(DEPLOY);
  const take = async (list: readonly File[]) => {
    if (!list.length || lack) return;
    busy.value = true;
    outcome.value = await deploy([...list], tenantOf(tenant.value || firstTenant()));
    busy.value = false;
  };
  useSignalEffect(() => {
    const files = dropped.value;
    dropped.value = [];
    void take(files);
  });
  const found = outcome.value;
  const located = found?.problem ? problemsOf(found.problem.detail) : [];
  return (
    <div class="deploy">
      <Head title={t('nav.deploy')} />
      <label class={dragging.value ? 'drop over' : 'drop'}>
        <b>{busy.value ? t('loading') : t('deploy.drop')}</b>
        <span class="dim">{t('deploy.note')}</span>
        <input
          type="file"
          disabled={lack !== null}
          multiple
          aria-label={t('deploy.choose')}
          onChange={(event) => {
            void take([...(event.currentTarget.files ?? [])]);
            event.currentTarget.value = '';
          }}
        />
      </label>
      {lack && <p class="problem">{lack}</p>}
      <div class="filters">
        <TenantChoice
          value={tenant.value || firstTenant()}
          onChange={(tenantId) => {
            tenant.value = tenantId;
          }}
        />
      </div>
      <div aria-live="polite">
        {found?.done && <Done done={found.done} />}
        {located.length > 0 ? (
          <>
            <p class="total bad">{t('deploy.nothing', { n: located.length })}</p>
            <Problems key={found!.files[0]!.name + located.length} located={located} texts={found!.texts} />
          </>
        ) : (
          found?.problem && <ProblemBox problem={found.problem} />
        )}
        {found && <CopyCommands commands={[found.command]} />}
      </div>
    </div>
  );
}
