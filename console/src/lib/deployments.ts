// Deployments: files are sent, and their outcome is told.
import { Problem, send } from './api.ts';
import { argument, type Command, notify } from './commands.ts';
import { t } from './i18n.ts';
import { changed } from './live.ts';

export type Deployed = {
  deployments: {
    processDefinition: {
      processDefinitionKey: string;
      processDefinitionId: string;
      processDefinitionVersion: number;
      resourceName: string;
      tenantId: string;
    } | null;
    decisionDefinition: { decisionDefinitionId: string; name: string; version: number; tenantId: string } | null;
    form: { formId: string; formKey: string; version: number; resourceName: string } | null;
    resource: { resourceId: string; version: number; resourceName: string; resourceKey: string } | null;
  }[];
  warnings: string[];
};
export type Outcome = {
  command: Command;
  files: File[];
  texts: Map<string, string>;
  done: Deployed | null;
  problem: Problem | null;
};

/** Deploy files, all or none, and tell the outcome. A problem is part of it. */
export async function deploy(files: File[], tenant: { tenantId?: string }): Promise<Outcome> {
  const body = new FormData();
  const started = performance.now();
  for (const file of files) body.append('resources', file, file.name);
  if (tenant.tenantId) body.append('tenantId', tenant.tenantId);
  const command: Command = {
    method: 'POST',
    path: '/v2/deployments',
    body,
    ...(!tenant.tenantId && { cli: `deploy ${files.map((file) => argument(file.name)).join(' ')}` }),
  };
  const texts = new Map(await Promise.all(files.map(async (file) => [file.name, await file.text()] as const)));
  try {
    const answer = await send<Deployed>(command);
    notify({
      label: t('nav.deploy'),
      commands: [command],
      position: answer.position,
      ms: performance.now() - started,
      problem: null,
    });
    changed();
    return { command, files, texts, done: answer.body, problem: null };
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { command, files, texts, done: null, problem: error };
  }
}
