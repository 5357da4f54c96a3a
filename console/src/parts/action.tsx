// Actions: a form with what will be sent, which can be copied as curl or as a command of the program.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { asCli, asCurl, perform, type Command } from '../lib/commands.ts';
import { t } from '../lib/i18n.ts';
import { Dialog } from './dialog.tsx';
import { Copy } from './time.tsx';

/** What the action sends, to be copied. */
export function CopyCommands({ commands }: { commands: readonly Command[] }) {
  const cli = commands.map(asCli).filter((line) => line !== null);
  const lines: [string, string][] = [['curl', commands.map((command) => asCurl(command)).join('\n')]];
  if (cli.length) lines.push(['vivero', cli.join('\n')]);
  return <details class="commands"><summary>{t('copyAs')}</summary>
    {lines.map(([name, text]) => <div key={name} class="command"><pre tabIndex={0} aria-label={name}>{text}</pre><Copy text={text} label={name} /></div>)}
  </details>;
}

type ActionProps = {
  title: string; button: string; danger?: boolean; commands: readonly Command[]; invalid?: string | null;
  onClose: () => void; onDone?: (answer: unknown) => void; children?: ComponentChildren;
};

/** A dialog that sends commands. It stays open when they fail, so that nothing typed is lost. */
export function ActionDialog({ title, button, danger = false, commands, invalid = null, onClose, onDone, children }: ActionProps) {
  const busy = useSignal(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    busy.value = true;
    const answer = await perform(title, ...commands);
    busy.value = false;
    if (!answer) return;
    onDone?.(answer.body);
    onClose();
  };
  return <Dialog title={title} onClose={onClose} wide>
    <form onSubmit={submit}>
      {children}
      {invalid && <p class="invalid" role="alert">{invalid}</p>}
      <CopyCommands commands={commands} />
      <footer><button type="button" onClick={onClose}>{t('cancel')}</button><button type="submit" class={danger ? 'danger' : 'primary'} disabled={busy.value || invalid !== null}>{button}</button></footer>
    </form>
  </Dialog>;
}
