import '@fontsource-variable/inter/wght.css';
import './styles/tokens.css';
import './styles/frame.css';
import './styles/parts/controls.css';
import './styles/parts/lists.css';
import './styles/parts/cards.css';
import './styles/parts/dialogs.css';
import './styles/parts/home.css';
import './styles/parts/pages.css';
import './styles/diagram.css';
import './styles/history.css';
import './styles/access.css';
import { effect } from '@preact/signals';
import { render } from 'preact';
import { App } from './app.tsx';
import { startDrop } from './lib/drop.ts';
import { preferred, setLanguage } from './lib/i18n.ts';
import { startKeys } from './lib/keys.ts';
import { startLive } from './lib/live.ts';
import { startRouter } from './lib/router.ts';
import { loadSession } from './lib/session.ts';
import { chosenLanguage, startTheme } from './lib/settings.ts';

startTheme();
startRouter();
startKeys();
startDrop();
startLive();
effect(() => {
  void setLanguage(preferred(chosenLanguage.value, navigator.languages));
});
render(<App />, document.getElementById('root')!);
void loadSession(); // after the requests of the page, which the user waits for
