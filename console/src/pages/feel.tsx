// FEEL: try an expression with given variables, or with those that an instance or element sees.
import { useSignal } from '@preact/signals';
import { Problem, send } from '../lib/api.ts';
import { argument, type Command } from '../lib/commands.ts';
import { t } from '../lib/i18n.ts';
import { variablesOf } from '../lib/json.ts';
import { put, query } from '../lib/router.ts';
import { EVALUATE } from '../lib/session.ts';
import { lackOf } from '../parts/act.tsx';
import { CopyCommands } from '../parts/copy_commands.tsx';
import { Head } from '../parts/head.tsx';
import { JsonArea } from '../parts/json_area.tsx';
import { ProblemBox } from '../parts/problem.tsx';

type Evaluated = { result: unknown; warnings: { message?: string }[] | string[] };

export function Feel() {
  const expression = useSignal(query.value.get('expression') ?? '');
  const context = useSignal('');
  const outcome = useSignal<Evaluated | Problem | null>(null);
  const scope = query.value.get('scope') ?? '';
  const found = variablesOf(context.value);
  const text = expression.value.startsWith('=') ? expression.value : `=${expression.value}`;
  const request: Command = {
    method: 'POST',
    path: '/v2/expression/evaluation',
    body: { expression: text, ...(scope ? { scopeKey: scope } : { variables: found.value ?? {} }) },
    ...(!scope && {
      cli: `feel ${argument(text.slice(1))}${context.value.trim() && ` --context ${argument(JSON.stringify(found.value ?? {}))}`}`,
    }),
  };
  const evaluate = async (event: Event) => {
    event.preventDefault();
    try {
      outcome.value = (await send<Evaluated>(request)).body;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      outcome.value = error;
    }
  };
  const shown = outcome.value;
  const lack = lackOf(EVALUATE);
  return (
    <>
      <Head title={t('nav.feel')} />
      <form class="stack narrow" onSubmit={evaluate}>
        <label class="area">
          {t('feel.expression')}
          <textarea
            class="json"
            data-search
            rows={4}
            spellcheck={false}
            placeholder="sum(for item in items return item.price)"
            value={expression.value}
            onInput={(event) => {
              expression.value = event.currentTarget.value;
            }}
          />
        </label>
        <label class="field">
          {t('feel.scope')}
          <input value={scope} onChange={(event) => put({ scope: event.currentTarget.value || null })} />
        </label>
        {!scope && (
          <JsonArea
            label={t('variables.json')}
            text={context}
            rows={6}
            placeholder='{"items": [{"price": 12}]}'
            problem={found.problem}
          />
        )}
        <CopyCommands commands={[request]} />
        {lack && <p class="problem">{lack}</p>}
        <div class="row">
          <button
            type="submit"
            class="primary"
            disabled={lack !== null || !expression.value || (!scope && found.problem !== null)}
          >
            {t('feel.evaluate')}
          </button>
        </div>
        <div aria-live="polite">
          {shown instanceof Problem ? (
            <ProblemBox problem={shown} />
          ) : (
            shown && (
              <>
                <h2>{t('feel.result')}</h2>
                <pre class="json box" tabIndex={0}>
                  {JSON.stringify(shown.result, null, 2)}
                </pre>
                {shown.warnings.length > 0 && (
                  <ul class="messages">
                    {shown.warnings.map((warning, i) => (
                      <li key={i} class="wait">
                        {typeof warning === 'string' ? warning : warning.message}
                      </li>
                    ))}
                  </ul>
                )}
              </>
            )
          )}
        </div>
      </form>
    </>
  );
}
