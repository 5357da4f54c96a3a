// Pages and dialogs in chunks of their own, which are loaded when somebody opens them.
import { type Signal, useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useLayoutEffect } from 'preact/hooks';
import { loadTexts, t } from '../lib/i18n.ts';
import { Head } from './head.tsx';

type LazyProps<P> = { load: () => Promise<ComponentType<P>>; props: P };

function useLoaded<P>(
  load: () => Promise<ComponentType<P>>,
): [Signal<{ page: ComponentType<P> } | null>, Signal<boolean>] {
  const loaded = useSignal<{ page: ComponentType<P> } | null>(null);
  const failed = useSignal(false);
  useLayoutEffect(() => {
    Promise.all([load(), loadTexts()]).then(
      ([page]) => {
        loaded.value = { page };
      },
      () => {
        failed.value = true;
      },
    );
  }, [load]);
  return [loaded, failed];
}

const Failed = () => (
  <p class="invalid pad" role="alert">
    {t('lazy.failed')}
  </p>
);

/** A page. `load` is the same function each time, so the chunk is asked for once. `ahead` asks for the page's data meanwhile. */
export function Lazy<P extends object>({
  load,
  title,
  props,
  ahead,
}: LazyProps<P> & { title: string; ahead?: () => void }) {
  useLayoutEffect(() => ahead?.(), []);
  const [loaded, failed] = useLoaded(load);
  const Page = loaded.value?.page;
  if (Page) return <Page {...props} />;
  return (
    <>
      <Head title={title} />
      {failed.value ? <Failed /> : <p class="dim loading">{t('loading')}</p>}
    </>
  );
}

/** A dialog, or a part of a page. Nothing is shown until it is there, unless it cannot be loaded. */
export function Opened<P extends object>({ load, props }: LazyProps<P>) {
  const [loaded, failed] = useLoaded(load);
  const Part = loaded.value?.page;
  if (Part) return <Part {...props} />;
  return failed.value ? <Failed /> : null;
}
