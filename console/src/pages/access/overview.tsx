// Access: what there is, and what the command line has for it.
import { t } from '../../lib/i18n.ts';
import { href } from '../../lib/router.ts';
import { isOpen } from '../../lib/session.ts';
import { Copy } from '../../parts/time.tsx';
import { Frame } from './frame.tsx';
import { KINDS } from './kinds.ts';

const TOKENS = ['vivero token create billing-worker --role worker --expires 90d', 'vivero token list', 'vivero token rotate billing-worker', 'vivero token revoke billing-worker'];
const SESSIONS = ['vivero user sessions', 'vivero user sign-out ann'];

/** Commands for a terminal on the server's machine. */
export function Terminal({ lines, label }: { lines: readonly string[]; label: string }) {
  return <ul class="terminal" aria-label={label}>{lines.map((line) => <li key={line}><code>{line}</code><Copy text={line} /></li>)}</ul>;
}

export function Overview() {
  return <Frame title={t('nav.access')} need={null}>
    <div class="access">
      {isOpen.value && <p class="past-note">{t('access.open')} <code>vivero up --auth required</code></p>}
      <ul class="tiles wide">{KINDS.map((kind) => <li key={kind.path}><a data-row href={href(`/access/${kind.path}`)}><b>{t(kind.title)}</b></a><span class="dim">{t(kind.note)}</span></li>)}
        <li><a data-row href={href('/access/authorizations')}><b>{t('access.authorizations')}</b></a><span class="dim">{t('access.authorizations.note')}</span></li>
        <li><a data-row href={href('/access/audit')}><b>{t('access.audit')}</b></a><span class="dim">{t('access.audit.note')}</span></li></ul>
      <section><h2>{t('access.tokens')}</h2><p class="dim">{t('access.tokens.note')}</p><Terminal lines={TOKENS} label={t('access.tokens')} /></section>
      <section><h2>{t('access.sessions')}</h2><p class="dim">{t('access.sessions.note')}</p><Terminal lines={SESSIONS} label={t('access.sessions')} /></section>
    </div>
  </Frame>;
}
