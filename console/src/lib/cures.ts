// Cures of incidents: give the job retries if it has none, then run the failed step again.
import type { Command } from './commands.ts';
import { argument } from './commands.ts';
import type { Incident } from './shapes.ts';

/** The commands that retry an incident, after `variables` are set in the scope of its element. */
export function curesOf(incident: Incident, variables?: Record<string, unknown>, retries = 1): Command[] {
  const commands: Command[] = [];
  const hasVariables = variables !== undefined && Object.keys(variables).length > 0;
  if (hasVariables)
    commands.push({
      method: 'PUT',
      path: `/v2/element-instances/${incident.elementInstanceKey}/variables`,
      body: { variables },
      cli: null,
    });
  if (incident.jobKey && incident.errorType.endsWith('NO_RETRIES'))
    commands.push({
      method: 'PATCH',
      path: `/v2/jobs/${incident.jobKey}`,
      body: { changeset: { retries } },
      cli: null,
    });
  const given = hasVariables ? ` --variables ${argument(JSON.stringify(variables))}` : '';
  commands.push({
    method: 'POST',
    path: `/v2/incidents/${incident.incidentKey}/resolution`,
    body: {},
    cli: `resolve ${incident.incidentKey}${given}`,
  });
  return commands;
}
