// Incidents of one cause: the same process, element and kind, and messages that differ only in their data.
import type { Incident } from './shapes.ts';

export type Group = { id: string; sample: Incident; incidents: Incident[]; newest: string };

/** A message without what differs between instances: numbers, keys, quoted texts, addresses. */
export function fingerprint(message: string): string {
  return message
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/gi, '…')
    .replace(/'[^']*'|"[^"]*"/g, '…')
    .replace(/[\w.+-]+@[\w-]+(\.[\w-]+)+/g, '…')
    .replace(/\d+(\.\d+)?/g, '…')
    .slice(0, 300);
}

/** Groups with the most incidents first. */
export function grouped(incidents: readonly Incident[]): Group[] {
  const groups = new Map<string, Group>();
  for (const incident of incidents) {
    const id = [incident.processDefinitionId, incident.elementId, incident.errorType, fingerprint(incident.errorMessage)].join('\n');
    const group = groups.get(id) ?? { id, sample: incident, incidents: [], newest: incident.creationTime };
    group.incidents.push(incident);
    if (incident.creationTime > group.newest) group.newest = incident.creationTime;
    groups.set(id, group);
  }
  return [...groups.values()].sort((a, b) => b.incidents.length - a.incidents.length || (a.newest < b.newest ? 1 : -1));
}
