// The work of the frame that nobody waits for: it begins after the first page.
import { useEffect } from 'preact/hooks';
import { keepFocus } from '../lib/focus.ts';
import { NewTasks } from './new_tasks.tsx';

export function Background() {
  useEffect(keepFocus, []);
  return <NewTasks />;
}
