// Problems: what is wrong in the server's words, and what one can do.
import { signInUrl, type Problem } from '../lib/api.ts';
import { t } from '../lib/i18n.ts';

export function explanation(problem: Problem): string {
  if (problem.status === 0) return t('problem.unreachable');
  if (problem.status === 401) return t('problem.signIn');
  if (problem.status === 403) return `${t('problem.forbidden')} ${problem.detail}`;
  return problem.detail || problem.title;
}

export function ProblemBox({ problem, retry }: { problem: Problem; retry?: () => void }) {
  return <div class="problem" role="alert">
    <p><b>{problem.status > 0 ? `${problem.status} ${problem.title}` : t('problem.title')}</b></p>
    <p>{explanation(problem)}</p>
    {problem.status === 401 && <p><a class="button" href={signInUrl()} target="_self">{t('signIn')}</a></p>}
    {retry && <button type="button" onClick={retry}>{t('again')}</button>}
  </div>;
}
