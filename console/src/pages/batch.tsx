// A button for everything that matches a filter. Its dialog is loaded when somebody opens it.
import type { ComponentType } from 'preact';
import { allOf, needOf } from '../lib/batches.ts';
import { Opened } from '../parts/lazy.tsx';
import { Opening } from '../parts/opening.tsx';
import type { BatchDialogProps } from './batch_dialogs.tsx';

const dialog = async (): Promise<ComponentType<BatchDialogProps>> => (await import('./batch_dialogs.tsx')).BatchDialog;
type BatchProps = Omit<BatchDialogProps, 'onClose'>;

export const Batch = (props: BatchDialogProps) => <Opened load={dialog} props={props} />;

export const BatchButton = (props: BatchProps) => (
  <Opening need={needOf(props.what)} text={allOf(props.what, props.total)}>
    {(onClose) => <Batch {...props} onClose={onClose} />}
  </Opening>
);
