// The saved views of a list: loaded when somebody opens them.
import '../styles/parts/columns.css';
import { useSignal } from '@preact/signals';
import { t } from '../lib/i18n.ts';
import type { Values } from '../lib/router.ts';
import { Opened } from './lazy.tsx';

const choice = () => import('../pages/view_choice.tsx').then((module) => module.ViewChoice);

/** `resource`: the list, as paths of the API name it. `more`: what is shown beside what the URL says. */
export function SavedViews({ resource, more = {} }: { resource: 'process-instances' | 'user-tasks'; more?: Values }) {
  const open = useSignal(false);
  return (
    <details
      class="columns"
      onToggle={(event) => {
        open.value = event.currentTarget.open;
      }}
    >
      <summary class="button">{t('views')}</summary>
      {open.value && <Opened load={choice} props={{ resource, more }} />}
    </details>
  );
}
