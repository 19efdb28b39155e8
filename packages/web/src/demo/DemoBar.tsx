import type { PlainEventName } from '@stagi/contract/analytics.ts';
import { track } from '../api/analytics.ts';
import { useOffersSignUp } from '../api/site.ts';
import { useT } from '../i18n/i18n.ts';
import { paths } from '../paths.ts';
import { Button } from '../ui/Button.tsx';
import { CutText } from '../ui/CutText.tsx';
import classes from './DemoBar.module.css';
import { asVisitor } from './demoVisitor.ts';

/** On every page of the demo: what this is, and the ways out. The links load a page: there the demo is over. */
export function DemoBar() {
  const t = useT();
  const offersSignUp = useOffersSignUp();
  const note = (name: PlainEventName) => () => asVisitor(() => track(name));
  return (
    <aside className={classes.bar} aria-label={t('Demo')} data-testid="demo-bar">
      <p className={classes.text}>
        <strong>{t('Demo')}</strong>
        <CutText>{t('Recorded data of a made-up workspace')}</CutText>
      </p>
      <div className={classes.ways}>
        <a className={classes.leave} href={paths.home()}>
          {t('Leave the demo')}
        </a>
        <Button
          component="a"
          href={paths.requestDemo()}
          size="xs"
          color="gray"
          onClick={note('request_demo_button_clicked')}
        >
          {t('Request a demo')}
        </Button>
        {offersSignUp && (
          <Button component="a" href={paths.signUp()} size="xs" onClick={note('sign_up_button_clicked')}>
            {t('Sign up')}
          </Button>
        )}
      </div>
    </aside>
  );
}
