// Times and keys, as every page shows them.
import { t } from '../lib/i18n.ts';
import { utc, when } from '../lib/time.ts';

/** A local time, with UTC on hover. */
export function Time({ at }: { at: string | null }) {
  return at ? (
    <time dateTime={at} title={utc(at)}>
      {when(at)}
    </time>
  ) : (
    <span class="dim">–</span>
  );
}

/** Text that can be copied with a button. */
export function Copy({ text, label }: { text: string; label?: string }) {
  const copied = (event: MouseEvent) => {
    const button = event.currentTarget as HTMLButtonElement;
    void navigator.clipboard?.writeText(text).then(() => {
      button.classList.add('copied');
      window.setTimeout(() => button.classList.remove('copied'), 900);
    });
  };
  return (
    <button type="button" class="copy" onClick={copied} aria-label={`${t('copy')} ${label ?? text}`} title={t('copy')}>
      <i aria-hidden="true" />
    </button>
  );
}

export function KeyText({ of }: { of: string }) {
  return (
    <span class="key">
      <code>{of}</code>
      <Copy text={of} />
    </span>
  );
}
