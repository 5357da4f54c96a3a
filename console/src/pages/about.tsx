// About: versions, licences, and what one can choose for this browser.
import { get } from '../lib/api.ts';
import { type Key, LANGUAGES, language, t } from '../lib/i18n.ts';
import { useResource } from '../lib/resource.ts';
import { BASE } from '../lib/router.ts';
import { me as whoami } from '../lib/session.ts';
import { chosenLanguage, density, type Theme, theme } from '../lib/settings.ts';
import { Head } from '../parts/head.tsx';

type Topology = { gatewayVersion: string; clusterId: string | null; brokers: { version: string }[] };

const THEMES: readonly [Theme, Key][] = [
  ['system', 'theme.system'],
  ['light', 'theme.light'],
  ['dark', 'theme.dark'],
];

function ThemeChoice() {
  return (
    <label>
      {t('theme')}{' '}
      <select
        value={theme.value}
        onChange={(event) => {
          theme.value = event.currentTarget.value as Theme;
        }}
      >
        {THEMES.map(([value, text]) => (
          <option key={value} value={value}>
            {t(text)}
          </option>
        ))}
      </select>
    </label>
  );
}

function DensityChoice() {
  return (
    <label>
      {t('density')}{' '}
      <select
        value={density.value}
        onChange={(event) => {
          density.value = event.currentTarget.value as typeof density.value;
        }}
      >
        <option value="dense">{t('density.dense')}</option>
        <option value="comfortable">{t('density.comfortable')}</option>
      </select>
    </label>
  );
}

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
