// The requests of an action, to be copied: as curl, and as a command of the program if it has one.
import { asCli, asCurl, type Command } from '../lib/commands.ts';
import { t } from '../lib/i18n.ts';
import { Copy } from './time.tsx';

function Line({ name, text }: { name: string; text: string }) {
  return (
    <div class="command">
      <pre role="group" tabIndex={0} aria-label={name}>
        {text}
      </pre>
      <Copy text={text} label={name} />
    </div>
  );
}

type CopyProps = { commands: readonly Command[]; label?: string; onToggle?: () => void };

/** `label`: which action it is, where several stand together. */
export function CopyCommands({ commands, label, onToggle }: CopyProps) {
  const lines = asCli(commands);
  const known = lines.filter((line) => line !== null);
  return (
    <details class="commands" {...(onToggle && { onToggle })}>
      <summary>
        {t('copyAs')}
        {label && `: ${label}`}
      </summary>
      <Line name="curl" text={commands.map((command) => asCurl(command)).join('\n')} />
      {known.length > 0 && <Line name="vivero" text={known.join('\n')} />}
      {known.length < lines.length && <p class="dim">{t('copy.noCli')}</p>}
    </details>
  );
}
