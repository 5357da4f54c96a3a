// The text of an error. Workers often send a traceback.
import { t } from '../lib/i18n.ts';
import { Copy } from './time.tsx';

/** The first line stands out, and the others keep their breaks. */
export function ErrorText({ of }: { of: string }) {
  const [first, ...rest] = of.trimEnd().split('\n');
  if (!rest.length) return <p class="message">{first}</p>;
  return (
    <div class="message">
      <p>
        <b>{first}</b> <Copy text={of} label={t('job.error')} />
      </p>
      <pre>{rest.join('\n')}</pre>
    </div>
  );
}
