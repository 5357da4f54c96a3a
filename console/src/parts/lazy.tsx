// A page in a chunk of its own, which is loaded when somebody opens it.
import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { t } from '../lib/i18n.ts';
import { Head } from './shell.tsx';

/** `load` is the same function each time, so the chunk is asked for once. */
export function Lazy<P extends object>({ load, title, props }: { load: () => Promise<ComponentType<P>>; title: string; props: P }) {
  const loaded = useSignal<ComponentType<P> | null>(null), failed = useSignal(false);
  useEffect(() => { load().then((page) => { loaded.value = page; }, () => { failed.value = true; }); }, [load]);
  const Page = loaded.value;
  if (Page) return <Page {...props} />;
  return <><Head title={title} />{failed.value ? <p class="invalid pad" role="alert">{t('lazy.failed')}</p> : <p class="dim loading">{t('loading')}</p>}</>;
}
