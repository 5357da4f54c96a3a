// Problems: what is wrong in the server's words, and what one can do.

import { type Problem, signInUrl } from '../lib/api.ts';
import { type Key, t } from '../lib/i18n.ts';
import { href } from '../lib/router.ts';

export function explanation(problem: Problem): string {
  if (problem.status === 0) return t('problem.unreachable');
  if (problem.status === 401) return t('problem.signIn');
  if (problem.status === 403) return `${t('problem.forbidden')} ${problem.detail}`;
  return problem.detail || problem.title;
}

/** The page that a thing is listed on, and its name. */
export type ListedOn = readonly [path: string, name: Key];

/** A page without a thing at this address, or that cannot have one: the same request gets the same answer. */
const isFinal = ({ status }: Problem): boolean => status === 400 || status === 404;

/** Nothing is there: where to go on. */
export const Empty = ({ text, of: [path, name] }: { text: string; of: ListedOn }) => (
  <div class="empty">
    <p>{text}</p>
    <a class="button" href={href(path)}>
      {t(name)}
    </a>
  </div>
);

/** `of`: where to go on if the thing itself is missing. */
export function ProblemBox({ problem, retry, of }: { problem: Problem; retry?: () => void; of?: ListedOn }) {
  if (of && isFinal(problem))
    return (
      <div class="empty" role="alert">
        <p>{t('problem.gone')}</p>
        <p class="dim">{problem.detail}</p>
        <a class="button" href={href(of[0])}>
          {t(of[1])}
        </a>
      </div>
    );
  return (
    <div class="problem" role="alert">
      <p>
        <b>{problem.status > 0 ? `${problem.status} ${problem.title}` : t('problem.title')}</b>
      </p>
      <p>{explanation(problem)}</p>
      {problem.status === 401 && (
        <p>
          <a class="button" href={signInUrl()} target="_self">
            {t('signIn')}
          </a>
        </p>
      )}
      {retry && (
        <button type="button" onClick={retry}>
          {t('again')}
        </button>
      )}
    </div>
  );
}
