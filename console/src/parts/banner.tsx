// Notices that hold for every page: the server is away, or the session has ended.
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { away } from '../lib/connection.ts';
import { t } from '../lib/i18n.ts';
import { signedOut } from '../lib/session.ts';
import { SignIn } from './sign_in.tsx';

/** The session has ended: the dialog of sign-in, or after it was closed a button that opens it again. */
function Ended() {
  const closed = useSignal(false);
  return (
    <>
      <p class="banner" role="alert">
        {t('problem.signIn')}{' '}
        <button
          type="button"
          onClick={() => {
            closed.value = false;
          }}
        >
          {t('signIn')}
        </button>
      </p>
      {!closed.value && (
        <SignIn
          onClose={() => {
            closed.value = true;
          }}
        />
      )}
    </>
  );
}

export function Banner() {
  const shown = away.value || signedOut.value;
  useEffect(() => {
    document.documentElement.toggleAttribute('data-banner', shown);
  }, [shown]);
  if (signedOut.value) return <Ended />;
  return away.value ? (
    <p class="banner" role="alert">
      {t('problem.unreachable')}
    </p>
  ) : null;
}
