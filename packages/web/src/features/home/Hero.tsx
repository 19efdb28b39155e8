import { pageExists } from '@stagi/contract/routes.ts';
import { Link } from 'react-router';
import { track } from '../../api/analytics.ts';
import { useOffersSignUp } from '../../api/site.ts';
import { useT } from '../../i18n/i18n.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/Button.tsx';
import { CopyCommand } from './CopyCommand.tsx';
import classes from './Hero.module.css';
import { LivePrices } from './LivePrices.tsx';
import { priceSnippet } from './priceSnippet.ts';
import { useApiOrigin } from './useApiOrigin.ts';

const DEMO = '/stagi-demo';
const CONTACT = '/contact';

/** What it is, what one can do now, and what it costs. */
export function Hero() {
  const t = useT();
  const offersSignUp = useOffersSignUp();
  const snippet = priceSnippet(useApiOrigin());
  return (
    <section className={classes.hero}>
      <div className={classes.first}>
        <h1 className={classes.sentence}>
          {t('Rent GPU servers by the hour or attach your own, and run AI work on them.')}
        </h1>
        <p className={classes.more}>
          {t(
            'Containers with live logs, tasks from git commits, S3 storages and open models in one console. Billed to the second.',
          )}
        </p>
        <div className={classes.actions}>
          <Button component={Link} to={offersSignUp ? paths.signUp() : paths.signIn()} size="m">
            {offersSignUp ? t('Sign up') : t('Log in')}
          </Button>
          {pageExists(DEMO) ? (
            // Another app: the demo has no session and answers by itself.
            <Button color="gray" component="a" href={DEMO} size="m">
              {t('Look at the demo')}
            </Button>
          ) : (
            <Button color="gray" component={Link} to={paths.models()} size="m">
              {t('Browse models')}
            </Button>
          )}
          {pageExists(CONTACT) && (
            <Link to={`${CONTACT}?topic=demo`} onClick={() => track('request_demo_button_clicked')}>
              {t('Request a demo')}
            </Link>
          )}
        </div>
        <figure className={classes.terminal}>
          <figcaption className={classes.caption}>
            {t('The same prices in your terminal')}
            <CopyCommand value={snippet} />
          </figcaption>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls sideways, also by keyboard */}
          <pre className={classes.code} tabIndex={0} data-testid="home-snippet">
            {snippet}
          </pre>
        </figure>
      </div>
      <LivePrices />
    </section>
  );
}
