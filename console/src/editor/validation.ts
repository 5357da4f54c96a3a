// Problems of a model while somebody edits it: the server examines it as a deployment would.
import type { Signal } from '@preact/signals';
import { Problem, send } from '../lib/api.ts';
import { type Located, located } from '../lib/problems.ts';
import { tenantOf } from '../parts/tenant.tsx';

type Verdict = { valid: boolean; problems: string[]; warnings: string[] };
/** `failed`: the server did not examine the newest model. */
export type Checked = { problems: Located[]; warnings: Located[]; failed: Problem | null };
export type Checks = { soon(): void; end(): void };

/** A file with its tenant, as the server takes it. */
export type Source = { name: string; content: string; tenantId: string };

/** The user must have stopped for this time. */
const PAUSE_MS = 600;
/** The server is left alone for this time after it refused. */
const BUSY_MS = 3_000;

async function validate({ name, content, tenantId }: Source): Promise<Checked> {
  const body = new FormData();
  body.append('resources', new File([content], name), name);
  const tenant = tenantOf(tenantId).tenantId;
  if (tenant) body.append('tenantId', tenant);
  try {
    const verdict = (await send<Verdict>({ method: 'POST', path: '/v2/deployments/validation', body })).body;
    return { problems: verdict.problems.map(located), warnings: verdict.warnings.map(located), failed: null };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { problems: [], warnings: [], failed: error };
  }
}

const isBusy = ({ failed }: Checked): boolean => failed?.status === 429 || failed?.status === 503;

/** One request at a time: whatever changes meanwhile is examined once, after its answer. */
export function checks(source: () => Promise<Source>, into: Signal<Checked | null>): Checks {
  let timer = 0;
  let running = false;
  let isOld = false;
  let ended = false;
  const wait = (ms: number): void => {
    window.clearTimeout(timer);
    if (!ended) timer = window.setTimeout(() => void run(), ms);
  };
  async function run(): Promise<void> {
    isOld = running;
    if (running) return;
    running = true;
    const found = await validate(await source());
    running = false;
    if (ended) return;
    into.value = found;
    if (isBusy(found)) wait(BUSY_MS);
    else if (isOld) wait(PAUSE_MS);
  }
  return {
    soon: () => wait(PAUSE_MS),
    end() {
      ended = true;
      window.clearTimeout(timer);
    },
  };
}
