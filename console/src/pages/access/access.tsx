// The table of contents of access: kind → page.
import { t } from '../../lib/i18n.ts';
import { Audit } from './audit.tsx';
import { Entries } from './entries.tsx';
import { Entry } from './entry.tsx';
import { Frame } from './frame.tsx';
import { Grants } from './grants.tsx';
import { kindOf } from './kinds.ts';
import { Overview } from './overview.tsx';
import { Tokens } from './tokens.tsx';

type AccessProps = { of?: string; id?: string };

export function Access({ of, id }: AccessProps) {
  if (!of) return <Overview />;
  if (of === 'authorizations') return <Grants />;
  if (of === 'audit') return <Audit />;
  if (of === 'tokens') return <Tokens />;
  const kind = kindOf(of);
  if (!kind)
    return (
      <Frame title={t('missing.title')} need={null}>
        <div class="empty">
          <p>{t('missing.text')}</p>
        </div>
      </Frame>
    );
  return id === undefined ? <Entries kind={kind} /> : <Entry key={`${of}/${id}`} kind={kind} id={id} />;
}
