// The instances that migrated ones have called: they go to the latest versions with the same command, if one asks.
import type { Signal } from '@preact/signals';
import { number, t } from '../../lib/i18n.ts';
import type { Called } from '../../lib/operations/migration.ts';
import type { Resource } from '../../lib/resource.ts';
import { Check } from '../../parts/check.tsx';
import { ProblemBox } from '../../parts/problem.tsx';

const unmapped = ({ elements }: Called): string =>
  elements
    .filter(({ active, targetElementId }) => active > 0 && targetElementId === null)
    .map(({ elementName, elementId }) => elementName ?? elementId)
    .join(', ');

const Each = ({ of }: { of: Called }) => (
  <li>
    <b>{of.processDefinitionId}</b> v{of.sourceVersion} → v{of.targetVersion}{' '}
    <span class="dim">{t('migrate.called', { n: number(of.active) })}</span>
    {unmapped(of) && <p class="invalid">{t('migrate.calledUnmapped', { names: unmapped(of) })}</p>}
  </li>
);

export function CalledInstances({ wanted, found }: { wanted: Signal<boolean>; found: Resource<Called[]> }) {
  const called = found.data.value;
  return (
    <>
      <Check value={wanted}>{t('migrate.includeCalled')}</Check>
      {wanted.value && found.problem.value && <ProblemBox problem={found.problem.value} retry={found.reload} />}
      {wanted.value && called && (
        <ul class="effects" aria-label={t('migrate.includeCalled')}>
          {called.map((one) => (
            <Each key={one.sourceProcessDefinitionKey} of={one} />
          ))}
          {!called.length && <li class="dim">{t('migrate.noCalled')}</li>}
        </ul>
      )}
    </>
  );
}
