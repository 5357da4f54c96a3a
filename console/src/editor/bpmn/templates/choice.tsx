// The choice of an element template for the selected element, also from a file.
import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { t } from '../../../lib/i18n.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { Field } from '../../../parts/field.tsx';
import { addFile, library, plain, type Template } from './library.ts';
import type { Offer } from './offer.ts';

const isFound = ({ name, description }: Template, text: string): boolean =>
  `${name} ${description ?? ''}`.toLowerCase().includes(text.trim().toLowerCase());

function Files({ onFiles }: { onFiles: (files: File[]) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <button type="button" onClick={() => input.current!.click()}>
        {t('templates.open')} …
      </button>
      <input
        ref={input}
        type="file"
        accept=".json"
        multiple
        hidden
        aria-label={t('templates.open')}
        onChange={(event) => {
          onFiles([...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = '';
        }}
      />
    </>
  );
}

function Found({ fitting, onChoose }: { fitting: readonly Template[]; onChoose: (one: Template) => void }) {
  const text = useSignal('');
  const found = fitting.filter((one) => isFound(one, text.value));
  return (
    <>
      <Field label={t('templates.find')} type="search" value={text} />
      {found.length === 0 && <p class="dim">{t('templates.none')}</p>}
      <ul class="templates">
        {found.map((one) => (
          <li key={one.id}>
            <button type="button" onClick={() => onChoose(one)}>
              <b>{one.name}</b>
              {one.description && <span class="dim">{plain(one.description)}</span>}
            </button>
          </li>
        ))}
      </ul>
    </>
  );
}

export function Templates({ offer, tenantId }: { offer: Offer; tenantId: Signal<string> }) {
  const faults = useSignal<string[]>([]);
  const asked = useRef(0);
  const load = async (): Promise<void> => {
    asked.current += 1;
    const own = asked.current;
    const { templates, problems } = await library(tenantId.peek());
    if (own !== asked.current) return;
    faults.value = problems;
    offer.set(templates);
  };
  useEffect(() => {
    void load();
    return () => {
      asked.current += 1;
    };
  }, [tenantId.value]);
  const add = async (files: readonly File[]): Promise<void> => {
    for (const file of files) addFile(file.name, await file.text());
    await load();
  };
  const problems = [...faults.value, ...offer.problems.value];
  const listed = problems.length > 0 && (
    <ul class="messages">
      {problems.map((problem, i) => (
        <li key={i} class="wait">
          {t('templates.wrong')} {problem}
        </li>
      ))}
    </ul>
  );
  const wanted = offer.wanting.value;
  if (!wanted) return listed || null;
  return (
    <Dialog title={t('templates.choose')} onClose={offer.cancel}>
      <Found fitting={wanted.fitting} onChoose={offer.apply} />
      {listed}
      <p class="dim">{t('templates.note')}</p>
      <footer>
        <Files onFiles={(files) => void add(files)} />
      </footer>
    </Dialog>
  );
}
