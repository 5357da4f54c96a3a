// The problems that the server finds in a command.
import type { ElementProblem } from '../../lib/api.ts';

export function Problems({ of }: { of: readonly ElementProblem[] }) {
  return of.map(({ elementId, message }) => (
    <p key={`${elementId}${message}`} class="invalid" role="alert">
      {message}
    </p>
  ));
}
