// A list of instances as a file of CSV: read page by page, each in a request of its own, for as long as the browser wants.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Problem, search } from '../lib/api.ts';
import { line } from '../lib/csv.ts';
import { number, t } from '../lib/i18n.ts';
import type { Instance, Page, SearchRequest } from '../lib/shapes.ts';
import { Dialog } from '../parts/dialog.tsx';
import { ProblemBox } from '../parts/problem.tsx';
import { headOf, textsOf, valuesOf } from './instance_columns.tsx';

const PAGE = 1000;
const MOST = 1_000_000;
const MARK = '\ufeff'; // spreadsheets then read UTF-8

export type ExportProps = {
  filter: Record<string, unknown>;
  sort: NonNullable<SearchRequest['sort']>;
  columns: readonly string[];
  onClose: () => void;
};

/** The rows that are read become parts of the file at once, which the browser keeps outside of the memory of the page. */
export function Export({ filter, sort, columns, onClose }: ExportProps) {
  const file = useRef<Blob | null>(null);
  const after = useRef<string | null>(null);
  const rows = useSignal(0);
  const state = useSignal<'reading' | 'done' | 'cut' | Problem>('reading');
  const abort = useRef(new AbortController());
  const read = async (): Promise<void> => {
    const page = { limit: PAGE, ...(after.current && { after: after.current }) };
    const found: Page<Instance> = await search('process-instances', { filter, sort, page }, abort.current.signal);
    const at = new Date().toISOString();
    const values = await valuesOf(found.items, columns, abort.current.signal);
    const text = found.items.map((one) => line([...textsOf(columns, one, values), at])).join('');
    file.current = new Blob([file.current ?? MARK + line([...headOf(columns), t('export.readAt')]), text]);
    rows.value += found.items.length;
    after.current = found.page.endCursor;
    if (found.items.length < PAGE || !after.current) state.value = 'done';
    else if (rows.value >= MOST) state.value = 'cut';
  };
  const go = async () => {
    state.value = 'reading';
    try {
      while (state.value === 'reading') await read();
    } catch (error) {
      if (abort.current.signal.aborted) return;
      if (!(error instanceof Problem)) throw error;
      state.value = error; // what was read stays: it goes on from there
    }
  };
  useEffect(() => {
    void go();
    return () => abort.current.abort();
  }, []);
  const save = () => {
    const url = URL.createObjectURL(new Blob([file.current!], { type: 'text/csv' }));
    const link = document.createElement('a');
    link.href = url;
    link.download = `instances-${new Date().toISOString().slice(0, 10)}.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  };
  return (
    <Dialog title={t('export.title')} onClose={onClose}>
      <p role="status">{t('export.rows', { n: number(rows.value) })}</p>
      <p class="dim">{t('export.note')}</p>
      {state.value === 'cut' && <p role="alert">{t('export.cut', { n: number(MOST) })}</p>}
      {state.value instanceof Problem && <ProblemBox problem={state.value} retry={() => void go()} />}
      <footer>
        <button type="button" onClick={onClose}>
          {t('cancel')}
        </button>
        <button type="button" class="primary" disabled={state.value === 'reading'} onClick={save}>
          {t('export.save')}
        </button>
      </footer>
    </Dialog>
  );
}
