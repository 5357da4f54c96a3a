// The form component `documentPreview`: the documents of a list of references. Nothing of a document is ever a page of the console.
import { DocumentPreview, Errors, Label, useExpressionEvaluation } from '@bpmn-io/form-js-viewer';
import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type Problem, problemOf } from '../lib/api.ts';
import { contentPath, isReference, nameOf, type Reference, size } from '../lib/documents.ts';
import { t } from '../lib/i18n.ts';
import { useResource } from '../lib/resource.ts';
import { explanation } from '../parts/problem.tsx';

type Field = { label?: string; dataSource?: string; maxHeight?: number };

/** The documents that are shown without being asked for. */
const FIRST = 20;
const TEXT_BYTES = 64 * 1024;
/** The largest file that is read whole into the memory of the browser. */
const PDF_BYTES = 32 * 1024 * 1024;

/** Raises Problem. An expired document and one that was deleted are the same to the server. */
async function asked(path: string, init: RequestInit): Promise<Response> {
  const answer = await fetch(path, { ...init, credentials: 'same-origin' });
  if (answer.ok) return answer;
  throw problemOf(answer.status, answer.statusText, init.method === 'HEAD' ? '' : await answer.text());
}

const lost = (problem: Problem): string => {
  if (problem.status === 404) return t('document.gone');
  if (problem.status === 403) return t('rights.lack', { permission: 'READ (DOCUMENT)' });
  return `${t('document.failed')} ${explanation(problem)}`;
};

type Kind = 'image' | 'pdf' | 'text' | 'other';

/** The type that the server gives, not the variable. */
function kindOf(type: string): Kind {
  const plain = type.split(';')[0]!.trim().toLowerCase();
  if (plain.startsWith('image/')) return 'image';
  if (plain === 'application/pdf') return 'pdf';
  return /^text\/|^application\/([\w.-]+\+)?(json|xml)$/.test(plain) ? 'text' : 'other';
}

function Text({ path }: { path: string }) {
  const found = useResource(`text ${path}`, async (abort) =>
    (await asked(path, { signal: abort, headers: { Range: `bytes=0-${TEXT_BYTES - 1}` } })).text(),
  );
  if (found.problem.value) return <p class="invalid">{lost(found.problem.value)}</p>;
  return (
    <pre class="json" tabIndex={0}>
      {found.data.value ?? t('loading')}
    </pre>
  );
}

/** The type is set here: the browser must not guess that it is a page, which would run in this one's session. */
function Pdf({ path, name }: { path: string; name: string }) {
  const url = useSignal('');
  const found = useResource(`pdf ${path}`, async (abort) => (await asked(path, { signal: abort })).arrayBuffer());
  useEffect(() => {
    if (!found.data.value) return;
    const made = URL.createObjectURL(new Blob([found.data.value], { type: 'application/pdf' }));
    url.value = made;
    return () => URL.revokeObjectURL(made);
  }, [found.data.value]);
  if (found.problem.value) return <p class="invalid">{lost(found.problem.value)}</p>;
  return url.value ? <embed src={url.value} type="application/pdf" title={name} /> : <p class="dim">{t('loading')}</p>;
}

function Shown({
  of,
  tenantId,
  maxHeight,
}: {
  of: Reference;
  tenantId: string | undefined;
  maxHeight: number | undefined;
}) {
  const path = contentPath(of, tenantId);
  const name = nameOf(of);
  const open = useSignal(false);
  const failed = useSignal(false);
  const head = useResource(`document ${path}`, async (abort) => {
    const { headers } = await asked(path, { method: 'HEAD', signal: abort });
    return { kind: kindOf(headers.get('Content-Type') ?? ''), bytes: Number(headers.get('Content-Length')) };
  });
  const { kind, bytes } = head.data.value ?? { kind: null, bytes: 0 };
  const opens = kind === 'text' || (kind === 'pdf' && bytes <= PDF_BYTES && navigator.pdfViewerEnabled);
  return (
    <li>
      <b>{name}</b>{' '}
      {kind && (
        <>
          <span class="dim">{size(bytes)}</span>{' '}
          {opens && (
            <button
              type="button"
              class="link"
              aria-expanded={open.value}
              aria-label={`${t('document.show')}: ${name}`}
              onClick={() => {
                open.value = !open.value;
              }}
            >
              {t('document.show')}
            </button>
          )}{' '}
          <a href={path} download={name} aria-label={`${t('document.download')}: ${name}`}>
            {t('document.download')}
          </a>
        </>
      )}
      {head.problem.value && (
        <p class="invalid" role="alert">
          {lost(head.problem.value)}
        </p>
      )}
      {kind === 'image' &&
        (failed.value ? (
          <p class="dim">{t('document.noPicture')}</p>
        ) : (
          <img
            src={path}
            alt={name}
            loading="lazy"
            style={maxHeight ? { maxHeight } : undefined}
            onError={() => {
              failed.value = true;
            }}
          />
        ))}
      {open.value && (kind === 'text' ? <Text path={path} /> : <Pdf path={path} name={name} />)}
      {open.value && kind === 'text' && bytes > TEXT_BYTES && (
        <p class="dim">{t('document.beginning', { size: size(TEXT_BYTES) })}</p>
      )}
    </li>
  );
}

/** The component for documents of a tenant; without one, of the only tenant of the user. */
export function documentPreview(tenantId: string | undefined) {
  function Preview({ field: { label, dataSource, maxHeight }, domId }: { field: Field; domId: string }) {
    const all = useSignal(false);
    const value: unknown = useExpressionEvaluation(dataSource ?? '');
    const given = Array.isArray(value) ? value : isReference(value) ? [value] : [];
    const documents = given.filter(isReference);
    const wrong = given.length - documents.length;
    const shown = all.value ? documents : documents.slice(0, FIRST);
    return (
      <div class="fjs-form-field fjs-form-field-documentPreview files">
        <Label id={domId} label={label} />
        {!dataSource && <Errors id={`${domId}-error`} errors={[t('document.noSource')]} />}
        {dataSource && !documents.length && <p class="dim">{t('document.none')}</p>}
        <ul aria-labelledby={domId}>
          {shown.map((one, i) => (
            <Shown key={`${i} ${contentPath(one)}`} of={one} tenantId={tenantId} maxHeight={maxHeight} />
          ))}
        </ul>
        {shown.length < documents.length && (
          <button
            type="button"
            onClick={() => {
              all.value = true;
            }}
          >
            {t('document.all', { n: documents.length })}
          </button>
        )}
        {wrong > 0 && <p class="invalid">{t('document.wrong', { n: wrong })}</p>}
      </div>
    );
  }
  Preview.config = DocumentPreview.config;
  return Preview;
}
