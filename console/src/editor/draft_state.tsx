// The state of the draft on the server: who saved it and when, or why it has not the newest changes.
import type { Signal } from '@preact/signals';
import { Problem } from '../lib/api.ts';
import { t } from '../lib/i18n.ts';
import { ProblemBox } from '../parts/problem.tsx';
import { Time } from '../parts/time.tsx';
import { isLost, type Saving } from './drafts.ts';

type DraftProps = {
  saving: Signal<Saving>;
  save: () => Promise<void>;
  fork: () => Promise<void>;
  reload: () => Promise<void>;
};

export function DraftState({ saving, save, fork, reload }: DraftProps) {
  const { kept, problem } = saving.value;
  const failed = (error: unknown): void => {
    if (!(error instanceof Problem)) throw error;
    saving.value = { ...saving.value, problem: error };
  };
  if (problem)
    return (
      <div class="stack">
        <ProblemBox problem={problem} />
        <div class="row">
          {isLost(saving.value) ? (
            <>
              <button type="button" onClick={() => void fork()}>
                {t('draft.fork')}
              </button>
              {problem.status === 412 && (
                <button type="button" onClick={() => void reload().catch(failed)}>
                  {t('draft.theirs')}
                </button>
              )}
            </>
          ) : (
            <button type="button" onClick={() => void save()}>
              {t('again')}
            </button>
          )}
        </div>
      </div>
    );
  if (!kept) return null;
  return (
    <p class="dim">
      {t('draft.kept', { by: kept.by })} <Time at={kept.at} />
    </p>
  );
}
