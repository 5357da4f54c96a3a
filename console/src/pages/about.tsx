// About: versions, licences, and what one can choose for this browser.
import { get } from '../lib/api.ts';
import { LANGUAGES, language, t } from '../lib/i18n.ts';
import { useResource } from '../lib/resource.ts';
import { BASE } from '../lib/router.ts';
import { me as whoami } from '../lib/session.ts';
import { chosenLanguage } from '../lib/settings.ts';
import { Head } from '../parts/head.tsx';
import { DensityChoice, ThemeChoice } from '../parts/shell.tsx';

type Topology = { gatewayVersion: string; clusterId: string | null; brokers: { version: string }[] };

export function About() {
  const topology = useResource('topology', (abort) => get<Topology>('/v2/topology', abort)).data.value;
  const me = whoami.value;
  return (
    <>
      <Head title={t('nav.about')} />
      <div class="stack narrow">
        <dl>
          <dt>Vivero</dt>
          <dd>{topology?.brokers[0]?.version ?? '…'}</dd>
          <dt>{t('about.api')}</dt>
          <dd>{topology?.gatewayVersion ?? '…'}</dd>
          <dt>{t('about.cluster')}</dt>
          <dd>
            <code>{topology?.clusterId ?? '…'}</code>
          </dd>
          {me && (
            <>
              <dt>{t('about.user')}</dt>
              <dd>
                {me.displayName ?? me.username}
                {me.roles.length > 0 && ` · ${me.roles.join(', ')}`}
              </dd>
            </>
          )}
        </dl>
        <h2>{t('about.choices')}</h2>
        <div class="row">
          <ThemeChoice />
          <DensityChoice />
          <label>
            {t('language')}{' '}
            <select
              value={language.value}
              onChange={(event) => {
                chosenLanguage.value = event.currentTarget.value;
              }}
            >
              {Object.entries(LANGUAGES).map(([code, name]) => (
                <option key={code} value={code} lang={code}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        </div>
        <h2>{t('about.licences')}</h2>
        <p>{t('about.licence')}</p>
        <p>
          <a href={`${BASE}/THIRD-PARTY.txt`} target="_blank" rel="noreferrer">
            {t('about.packages')}
          </a>
        </p>
        <p>
          {t('about.bpmnio')}{' '}
          <a href="https://bpmn.io" target="_blank" rel="noreferrer">
            bpmn.io
          </a>
        </p>
      </div>
    </>
  );
}
