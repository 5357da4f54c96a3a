// A decision instance: what the decision saw, which rules matched, what it gave, and where it belongs.
import '../decisions/decisions.css';
import { Evaluated, Path, useGraph } from '../decisions/evaluated.tsx';
import { get, ifAllowed } from '../lib/api.ts';
import { decisionFile, evaluationOf, instanceOf } from '../lib/decisions.ts';
import { number, t } from '../lib/i18n.ts';
import { useResource } from '../lib/resource.ts';
import { go, href } from '../lib/router.ts';
import { DELETE_EVALUATION } from '../lib/session.ts';
import type { DecisionInstance as Shape } from '../lib/shapes.ts';
import { decisionUrl } from '../lib/urls.ts';
import { Asking } from '../parts/action.tsx';
import { Head } from '../parts/head.tsx';
import { ProblemBox } from '../parts/problem.tsx';
import { State } from '../parts/state.tsx';
import { KeyText, Time } from '../parts/time.tsx';

type Found = { itself: Shape; others: Shape[]; xml: string | null; element: string | null };

async function load(id: string, abort: AbortSignal): Promise<Found> {
  const itself = await get<Shape>(`/v2/decision-instances/${encodeURIComponent(id)}`, abort);
  const [others, xml, element] = await Promise.all([
    evaluationOf(itself.decisionEvaluationKey, abort),
    decisionFile(itself.decisionDefinitionKey),
    instanceOf(itself)
      ? ifAllowed(get<{ elementId: string }>(`/v2/element-instances/${itself.elementInstanceKey}`, abort))
      : null,
  ]);
  return { itself, others, xml, element: element?.elementId ?? null };
}

/** The evaluation goes as a whole, with all decisions that it took. */
function DeleteButton({ of, n }: { of: Shape; n: number }) {
  const key = of.decisionEvaluationKey;
  return (
    <Asking
      need={DELETE_EVALUATION}
      of={of.decisionDefinitionId}
      title={t('evaluation.delete')}
      note={t('evaluation.deleteNote', { n: number(n) })}
      command={{ method: 'POST', path: `/v2/decision-instances/${key}/deletion`, cli: `delete-evaluations ${key}` }}
      done={() => go(href('/decision-instances'))}
    />
  );
}

function Shown({ found: { itself, others, xml, element } }: { found: Found }) {
  const { graph, failure } = useGraph(xml);
  const name = itself.decisionDefinitionName || itself.decisionDefinitionId;
  return (
    <>
      <Head
        title={
          <>
            {name} <State of={itself.state} />
          </>
        }
        crumbs={
          <>
            <a href={href('/decision-instances', { decision: itself.decisionDefinitionId })}>
              {t('decision.instances')}
            </a>{' '}
            /{' '}
            <a
              href={decisionUrl(itself.decisionDefinitionId, itself.tenantId, {
                version: itself.decisionDefinitionVersion,
              })}
            >
              {name}
            </a>{' '}
            <span class="dim">v{itself.decisionDefinitionVersion}</span>
          </>
        }
        note={
          <>
            {t('decision.evaluatedAt')} <Time at={itself.evaluationDate} /> ·{' '}
            <KeyText of={itself.decisionEvaluationInstanceKey} />
          </>
        }
        actions={
          <>
            <DeleteButton of={itself} n={others.length} />
            {instanceOf(itself) && (
              <a class="button" href={href(`/instances/${itself.processInstanceKey}`, { element })}>
                {t('decision.toTask')} {itself.businessId ?? itself.processInstanceKey}
                {element && ` / ${element}`}
              </a>
            )}
          </>
        }
      />
      <div class="stack decision">
        {failure && <p class="problem">{failure}</p>}
        <Evaluated graph={graph} of={itself} name={name} output={itself.result} failure={itself.evaluationFailure} />
        <Path decisions={others} current={itself.decisionEvaluationInstanceKey} />
      </div>
    </>
  );
}

export function DecisionInstance({ id }: { id: string }) {
  const found = useResource(`decision instance ${id}`, (abort) => load(id, abort));
  const problem = found.problem.value;
  if (found.data.value) return <Shown key={id} found={found.data.value} />;
  return (
    <>
      <Head title={t('decision.instance')} note={<KeyText of={id} />} />
      {problem ? (
        <ProblemBox problem={problem} retry={found.reload} of={['/decision-instances', 'decision.instances']} />
      ) : (
        <p class="dim loading">{t('loading')}</p>
      )}
    </>
  );
}
