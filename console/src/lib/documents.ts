// Documents: files beside processes. A variable has references to them, and the server their contents.
import { Problem, problemOf } from './api.ts';
import type { Command } from './commands.ts';

/** The reference to a document in a variable, as the server gave it. */
export type Reference = {
  'camunda.document.type': string;
  documentId: string;
  storeId?: string;
  contentHash?: string;
  metadata: { fileName?: string; contentType?: string; size?: number };
};

/** The owner of a new document. */
export type Owner = { processDefinitionId: string; processInstanceKey?: string; tenantId?: string };

export function isReference(value: unknown): value is Reference {
  const found = value as Partial<Reference> | null;
  return (
    typeof found === 'object' &&
    typeof found?.documentId === 'string' &&
    !['', '.', '..'].includes(found.documentId) && // the address would be another one
    typeof found.metadata === 'object' &&
    found.metadata !== null
  );
}

export const nameOf = ({ metadata, documentId }: Reference): string =>
  typeof metadata.fileName === 'string' && metadata.fileName ? metadata.fileName : documentId;

/** The address of the content that the reference names, and of no other that gets the same id later. */
export function contentPath({ documentId, storeId, contentHash }: Reference, tenantId?: string): string {
  const known = { storeId, contentHash, tenantId };
  const query = new URLSearchParams(
    Object.entries(known).filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
  );
  return `/v2/documents/${encodeURIComponent(documentId)}${query.size ? `?${query}` : ''}`;
}

/** The request that stores a file. */
export function storing(file: File, { tenantId, ...owner }: Owner): Command & { body: FormData } {
  const body = new FormData();
  body.append('metadata', JSON.stringify(owner));
  body.append('file', file, file.name);
  return { method: 'POST', path: `/v2/documents${tenantId ? `?${new URLSearchParams({ tenantId })}` : ''}`, body };
}

/** Store a file, and tell meanwhile how many bytes are sent. Raises Problem, also when it is aborted. */
export function store(
  file: File,
  owner: Owner,
  onSent: (bytes: number) => void,
  abort: AbortSignal,
): Promise<Reference> {
  const { path, body } = storing(file, owner);
  const request = new XMLHttpRequest(); // fetch does not tell its progress
  return new Promise((resolve, reject) => {
    const unreachable = () => reject(new Problem(0, 'UNREACHABLE', ''));
    abort.addEventListener('abort', () => request.abort());
    request.upload.onprogress = ({ loaded }) => onSent(Math.min(loaded, file.size));
    request.onabort = unreachable;
    request.onerror = unreachable;
    request.onload = () => {
      if (request.status === 201) resolve(JSON.parse(request.responseText) as Reference);
      else reject(problemOf(request.status, request.statusText, request.responseText));
    };
    request.open('POST', path);
    request.send(body);
  });
}

const STEP = 1024;

/** A size for people: `812 B`, `3.4 KiB`, `12 MiB`. */
export function size(bytes: number): string {
  const unit = Math.min(3, Math.floor(Math.log(Math.max(1, bytes)) / Math.log(STEP)));
  const n = bytes / STEP ** unit;
  return `${unit && n < 10 ? n.toFixed(1) : Math.round(n)} ${['B', 'KiB', 'MiB', 'GiB'][unit]}`;
}
