// The calls of models by the agents of an instance: what each cost, and which tools the model called.
import { type AgentCall, type CallSums, callsOf, money, tokens } from '../../lib/agents.ts';
import { kindOf } from '../../lib/groups.ts';
import { number, t } from '../../lib/i18n.ts';
import { useGrowing } from '../../lib/pages.ts';
import { duration } from '../../lib/time.ts';
import { ProblemBox } from '../../parts/problem.tsx';
import { Rest } from '../../parts/rest.tsx';
import { Time } from '../../parts/time.tsx';

const FEW = 10;

export type CallsProps = {
  instance: string;
  selected: string | null;
  onSelect: (id: string | null) => void;
  name: (id: string) => string;
};

/** The number of calls, with those that failed. */
export const Calls = ({ of: { calls, failed } }: { of: CallSums }) => (
  <>
    {number(calls)} {failed > 0 && <span class="bad">! {t('agents.failed', { n: number(failed) })}</span>}
  </>
);

type SumsProps = Pick<CallsProps, 'name' | 'onSelect'> & { of: (CallSums & { model?: string })[] };

/** The sums by element, and by model if they are of one. */
export function Sums({ of, name, onSelect }: SumsProps) {
  return (
    <table class="small" aria-label={t('agents.calls')}>
      <thead>
        <tr>
          <th scope="col">{t('element')}</th>
          <th scope="col">{t('agents.count')}</th>
          <th scope="col">{t('agents.cost')}</th>
        </tr>
      </thead>
      <tbody>
        {of.map((one) => (
          <tr key={`${one.elementId} ${one.model} ${one.currency}`}>
            <th scope="row">
              <button type="button" class="link" onClick={() => onSelect(one.elementId)}>
                {name(one.elementId)}
              </button>
              {one.model && <div class="dim">{one.model}</div>}
            </th>
            <td class="number">
              <Calls of={one} />
            </td>
            <td class="number" title={tokens(one)}>
              {money(one)}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Call({ of }: { of: AgentCall }) {
  const facts = [tokens(of), money(of)].filter(Boolean).join(' · ');
  return (
    <li class="card">
      <p>
        <b>{of.model}</b>{' '}
        <span class="dim">
          {t('agents.turn', { n: of.turn })} · {duration(of.durationMs)} · <Time at={of.endDate} />
        </span>
      </p>
      {of.outcome !== 'ANSWERED' && <p class="bad">! {kindOf(of.outcome)}</p>}
      <p class="dim">{facts}</p>
      {of.toolsCalled.length > 0 && (
        <p>
          <span class="dim">{t('agents.tools')}</span> <code>{of.toolsCalled.join(', ')}</code>
        </p>
      )}
    </li>
  );
}

/** The calls of the whole instance, or of the selected element. Nothing if there are none. */
export function AgentCallCards({ instance, selected, onSelect, name }: CallsProps) {
  const found = useGrowing(
    `agent calls ${instance}`,
    { elementId: selected },
    [],
    FEW,
    [`instance:${instance}`],
    ({ page }, abort) => callsOf(instance, selected, page, abort),
  );
  const { problem, data } = found;
  if (problem.value) return <ProblemBox problem={problem.value} retry={found.reload} />;
  const page = data.value;
  if (!page?.page.totalItems) return null;
  return (
    <>
      <h3>{t('agents.calls')}</h3>
      <Sums of={page.sums} name={name} onSelect={onSelect} />
      <ol>
        {page.items.map((call) => (
          <Call key={call.agentCallId} of={call} />
        ))}
      </ol>
      <Rest count="count.calls" page={page} steps={found} />
    </>
  );
}
