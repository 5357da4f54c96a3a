// The mark of an open process instance that is late: by the due time of its model, else by the usual duration of its version.
import { t } from '../lib/i18n.ts';
import type { Instance } from '../lib/shapes.ts';
import { ago } from '../lib/time.ts';

export function Late({ of }: { of: Instance }) {
  if (!of.lateDate) return null;
  return (
    <b class="late" title={t(of.dueDate ? 'late.byModel' : 'late.byUsual')}>
      ! {t('late.since', { time: ago(of.lateDate) })}
    </b>
  );
}
