// Access: what there is; and the sessions and tokens of the user.
import { t } from '../../lib/i18n.ts';
import { href } from '../../lib/router.ts';
import { isOpen } from '../../lib/session.ts';
import { Frame } from './frame.tsx';
import { KINDS } from './kinds.ts';
import { OwnSessions } from './sessions.tsx';
import { OwnTokens } from './tokens.tsx';

const OTHERS = ['tokens', 'authorizations', 'audit'] as const;

export function Overview() {
  return (
    <Frame title={t('nav.access')} need={null}>
      <div class="access">
        {isOpen.value && (
          <p class="past-note">
            {t('access.open')} <code>vivero up --auth required</code>
          </p>
        )}
        <ul class="tiles wide">
          {KINDS.map((kind) => (
            <li key={kind.path}>
              <a data-row href={href(`/access/${kind.path}`)}>
                <b>{t(kind.title)}</b>
              </a>
              <span class="dim">{t(kind.note)}</span>
            </li>
          ))}
          {OTHERS.map((of) => (
            <li key={of}>
              <a data-row href={href(`/access/${of}`)}>
                <b>{t(`access.${of}`)}</b>
              </a>
              <span class="dim">{t(`access.${of}.note`)}</span>
            </li>
          ))}
        </ul>
        {!isOpen.value && (
          <>
            <OwnTokens />
            <OwnSessions />
          </>
        )}
      </div>
    </Frame>
  );
}
