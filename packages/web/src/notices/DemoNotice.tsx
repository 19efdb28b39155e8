import { BRAND } from '@stagi/contract/brand.ts';
import { ROUTES } from '@stagi/contract/routes.ts';
import { Link, useSearchParams } from 'react-router';
import { useOffersSignUp } from '../api/site.ts';
import { useT } from '../i18n/i18n.ts';
import { useRoute } from '../navigation/useRoute.ts';
import { paths } from '../paths.ts';
import classes from './DemoNotice.module.css';

/** The demo account notice: over the pages where a visitor sees the product without an account of their own. */
export function DemoNotice() {
  const t = useT();
  const { path } = useRoute();
  const [params] = useSearchParams();
  const offersSignUp = useOffersSignUp();
  const notice = t('You are looking at {{brand}} without an account', { brand: BRAND });
  return (
    <aside className={classes.notice} aria-label={notice} data-testid="demo-notice">
      <span>{notice}</span>
      {offersSignUp && path !== ROUTES.signUp.path && (
        <Link to={paths.signUp(params.get('returnUrl') ?? undefined)} className={classes.link}>
          {t('Sign up')}
        </Link>
      )}
    </aside>
  );
}
