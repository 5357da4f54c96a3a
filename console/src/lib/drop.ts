// Files that are dropped anywhere on the console: the page of deployments takes them.
import { signal } from '@preact/signals';
import { go, href, path } from './router.ts';

/** Whether files are held over the window. */
export const dragging = signal(false);
/** Files that wait for the page of deployments. */
export const dropped = signal<readonly File[]>([]);

const PAGE = '/deploy';
const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false;
/** An open dialog keeps what was typed into it: nothing is dropped behind it. */
const isFree = (): boolean => document.querySelector('dialog[open]') === null;

/** A browser asks by `dragenter` whenever another element gets below the pointer, and by `dragover` else. */
function over(event: DragEvent): void {
  if (!hasFiles(event)) return;
  event.preventDefault();
  const free = isFree();
  event.dataTransfer!.dropEffect = free ? 'copy' : 'none';
  dragging.value = free;
}

function drop(event: DragEvent): void {
  if (!hasFiles(event)) return;
  event.preventDefault(); // else the browser leaves the console, and shows the file
  dragging.value = false;
  const files = [...event.dataTransfer!.files];
  if (!files.length || !isFree()) return;
  dropped.value = files;
  if (path.value !== PAGE) go(href(PAGE));
}

export function startDrop(): void {
  addEventListener('dragenter', over);
  addEventListener('dragover', over);
  addEventListener('dragleave', (event) => {
    if (event.relatedTarget === null) dragging.value = false;
  });
  addEventListener('drop', drop);
}
