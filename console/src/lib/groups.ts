// Incidents of one cause: their messages differ only in their data.
import type { ErrorCount, Incident } from './shapes.ts';

/** `instances`: how many instances have the error. `hashes`: its numbers. `incidents`: the newest, if they are known. */
export type Group = { id: string; message: string; hashes: number[]; instances: number; incidents: Incident[] };

/** Characters of a message that are compared. */
export const MOST = 300;

/** A message without what differs between instances: numbers, keys, quoted texts, addresses. */
export function fingerprint(message: string): string {
  return message
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}/gi, '…')
    .replace(/'[^']*'|"[^"]*"/g, '…')
    .replace(/[\w.+-]+@[\w-]+(\.[\w-]+)+/g, '…')
    .replace(/\d+(\.\d+)?/g, '…')
    .slice(0, MOST);
}

/** Groups with the most instances first. `counts` are the server's; `incidents` are some of the groups' incidents. */
export function grouped(counts: readonly ErrorCount[], incidents: readonly Incident[]): Group[] {
  const groups = new Map<string, Group>();
  for (const { errorMessage, errorHashCode, activeInstancesWithErrorCount } of counts) {
    const id = fingerprint(errorMessage), group = groups.get(id) ?? { id, message: errorMessage, hashes: [], instances: 0, incidents: [] };
    group.hashes.push(errorHashCode);
    group.instances += activeInstancesWithErrorCount;
    groups.set(id, group);
  }
  for (const incident of incidents) groups.get(fingerprint(incident.errorMessage))?.incidents.push(incident);
  return [...groups.values()].sort((a, b) => b.instances - a.instances);
}

/** The incidents of a group at one element of one process, of one kind; `sample` is the newest. */
export type Place = { id: string; sample: Incident; incidents: Incident[] };

export function placesOf(group: Group): Place[] {
  const places = new Map<string, Place>();
  for (const incident of group.incidents) {
    const id = [incident.processDefinitionId, incident.elementId, incident.errorType].join('\n');
    const place = places.get(id) ?? { id, sample: incident, incidents: [] };
    place.incidents.push(incident);
    places.set(id, place);
  }
  return [...places.values()];
}
