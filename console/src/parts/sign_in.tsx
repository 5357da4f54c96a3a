// Signing in again on the page: dialogs stay open below, and nothing that was typed is lost.

import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type Key, t } from '../lib/i18n.ts';
import { readAgain } from '../lib/live.ts';
import { isSignedIn, loadSession, me, type SignInOutcome, signedOut, signIn } from '../lib/session.ts';
import { Dialog } from './dialog.tsx';
import { Field } from './field.tsx';

const TEXTS: Record<Exclude<SignInOutcome, 'done'>, Key> = {
  wrong: 'signIn.wrong',
  tooMany: 'signIn.tooMany',
  failed: 'problem.unreachable',
};

async function goOn(): Promise<void> {
  signedOut.value = false;
  await loadSession();
  readAgain();
}

/** Somebody may have signed in in another tab, for example at the identity provider. */
function useOtherTab(): void {
  useEffect(() => {
    const look = async () => {
      if (!document.hidden && (await isSignedIn())) await goOn();
    };
    addEventListener('focus', look);
    return () => removeEventListener('focus', look);
  }, []);
}

export function SignIn({ onClose }: { onClose: () => void }) {
  const username = useSignal(me.value?.username ?? '');
  const password = useSignal('');
  const outcome = useSignal<SignInOutcome | null>(null);
  const busy = useSignal(false);
  useOtherTab();
  const submit = async (event: Event) => {
    event.preventDefault();
    busy.value = true;
    outcome.value = await signIn(username.value, password.value);
    busy.value = false;
    if (outcome.value === 'done') await goOn();
  };
  const failed = outcome.value && outcome.value !== 'done' ? t(TEXTS[outcome.value]) : null;
  return (
    <Dialog title={t('signIn.again')} onClose={onClose}>
      <form onSubmit={submit}>
        <p>{t('problem.signIn')}</p>
        <Field label={t('user.name')} value={username} autocomplete="username" required />
        <Field
          label={t('user.password')}
          value={password}
          type="password"
          autocomplete="current-password"
          required
          autofocus
        />
        {failed && (
          <p class="invalid" role="alert">
            {failed}
          </p>
        )}
        <footer>
          <a class="button" href="/console/login?next=/console/about" target="_blank" rel="noreferrer">
            {t('signIn.otherTab')}
          </a>
          <button type="submit" class="primary" disabled={busy.value}>
            {t('signIn')}
          </button>
        </footer>
      </form>
    </Dialog>
  );
}
