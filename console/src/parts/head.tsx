// The head of a page.
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { newTasks } from '../lib/new_tasks.ts';

/** The thing that is open on the page beside its h1, for the title of the window. */
export const subject = signal('');

/** The head of a page: its one h1, what it is part of, and what one can do. */
export function Head({
  title,
  crumbs,
  note,
  actions,
}: {
  title: ComponentChildren;
  crumbs?: ComponentChildren;
  note?: ComponentChildren;
  actions?: ComponentChildren;
}) {
  const about = subject.value && `${subject.value} · `;
  const isNew = newTasks.value ? `(${newTasks.value}) ` : '';
  useEffect(() => {
    document.title = `${isNew}${about}${document.querySelector('h1')?.textContent ?? ''} · Vivero`;
  });
  return (
    <header class="top">
      {crumbs && <p class="crumbs">{crumbs}</p>}
      <h1>{title}</h1>
      {note && <p class="note">{note}</p>}
      {actions && <div class="row actions">{actions}</div>}
    </header>
  );
}
