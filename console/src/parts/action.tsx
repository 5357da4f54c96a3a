// Actions: a form with what will be sent, which can be copied as curl or as a command of the program.
import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';
import type { Problem } from '../lib/api.ts';
import { attempt, type Command } from '../lib/commands.ts';
import { t } from '../lib/i18n.ts';
import type { Need } from '../lib/session.ts';
import { Conflict, type Difference } from './conflict.tsx';
import { CopyCommands } from './copy_commands.tsx';
import { Dialog } from './dialog.tsx';
import { Opening } from './opening.tsx';

/** Changes of others since the dialog opened, the version that the commands depend on, and commands that have succeeded. */
export type Checked = { differences: readonly Difference[]; version?: string | null; done?: readonly Command[] };

type ActionProps = {
  title: string;
  button: string;
  danger?: boolean;
  commands: readonly Command[];
  invalid?: string | null;
  /** Whether there is nothing to send yet. */
  idle?: boolean;
  check?: () => Promise<Checked>;
  /** The version that the first command depends on: with another one it is refused, and not tried again. */
  version?: string | null;
  /** A problem of the server, which is told as a notice, too. */
  onProblem?: (problem: Problem) => void;
  onClose: () => void;
  onDone?: (answer: unknown) => void;
  children?: ComponentChildren;
};

const CONFLICT = 409;
const CHANGED = 412;
const TRIES = 3;
const NONE: Checked = { differences: [] };

/** A form that sends commands. It stays when they fail, so that nothing typed is lost. */
export function ActionForm({
  title,
  button,
  danger = false,
  commands,
  invalid = null,
  idle = false,
  check = async () => NONE,
  version,
  onProblem,
  onClose,
  onDone,
  children,
}: ActionProps) {
  const busy = useSignal(false);
  const touched = useSignal(false); // an empty dialog is no mistake yet
  const conflict = useSignal<readonly Difference[]>([]);
  const seen = useRef('');
  /** Whether somebody changed what the user has not seen yet. */
  const changedMeanwhile = (checked: Checked): boolean => {
    const now = JSON.stringify(checked.differences.map(({ name, theirs }) => [name, theirs]));
    if (!checked.differences.length || now === seen.current) return false;
    seen.current = now;
    conflict.value = checked.differences;
    return true;
  };
  /** Another change of the same instance (412) is no conflict: with the next version it is tried again. */
  const tried = async (most: number): Promise<void> => {
    const checked = await check().catch(() => NONE);
    if (changedMeanwhile(checked)) return;
    const [first, ...others] = commands.filter((one) => !checked.done?.includes(one)) as [Command, ...Command[]];
    const { answer, problem } = await attempt(
      title,
      [{ ...first, ifMatch: version ?? checked.version ?? null }, ...others],
      most > 0 ? CHANGED : undefined,
    );
    if (problem?.status === CHANGED && most > 0) return tried(most - 1);
    if (problem?.status === CONFLICT) changedMeanwhile(await check().catch(() => NONE));
    if (problem) onProblem?.(problem);
    if (!answer) return;
    onDone?.(answer.body);
    onClose();
  };
  const submit = async (event: Event) => {
    event.preventDefault();
    busy.value = true;
    await tried(version === undefined ? TRIES : 0);
    busy.value = false;
  };
  return (
    <form
      onSubmit={submit}
      onInput={() => {
        touched.value = true;
      }}
    >
      {children}
      {invalid && (
        <p class={touched.value ? 'invalid' : 'dim'} role="alert">
          {invalid}
        </p>
      )}
      {conflict.value.length > 0 && <Conflict of={conflict.value} />}
      <CopyCommands commands={commands} />
      <footer>
        <button type="button" onClick={onClose}>
          {t('cancel')}
        </button>
        <button type="submit" class={danger ? 'danger' : 'primary'} disabled={busy.value || invalid !== null || idle}>
          {conflict.value.length ? t('conflict.overwrite') : button}
        </button>
      </footer>
    </form>
  );
}

export const ActionDialog = (action: ActionProps) => (
  <Dialog title={action.title} onClose={action.onClose} wide>
    <ActionForm {...action} />
  </Dialog>
);

type AskingProps = {
  need: Need;
  of?: string | undefined;
  title: string;
  note: string;
  command: Command;
  done?: () => void;
};

/** A button whose dialog asks before something goes that does not come back. */
export const Asking = ({ need, of, title, note, command, done = () => {} }: AskingProps) => (
  <Opening need={need} of={of} text={title}>
    {(close) => (
      <ActionDialog title={title} button={title} danger onClose={close} onDone={done} commands={[command]}>
        <p>{note}</p>
      </ActionDialog>
    )}
  </Opening>
);
