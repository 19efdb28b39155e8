import { ROUTES } from '@stagi/contract/routes.ts';
import { Link, useSearchParams } from 'react-router';
import { useOffersSignUp } from '../../api/site.ts';
import { useT } from '../../i18n/i18n.ts';
import { useRoute } from '../../navigation/useRoute.ts';
import { paths } from '../../paths.ts';
import { FormCard } from '../../ui/FormCard.tsx';
import { Note } from '../../ui/Note.tsx';
import { OtherSignInMethods } from './OtherSignInMethods.tsx';
import { PasskeyLogin } from './PasskeyLogin.tsx';

/** The sign-in where nobody has a password; the recovery of passwords leads here too. */
export function PasswordlessSignInPage() {
  const t = useT();
  const { path } = useRoute();
  const [params] = useSearchParams();
  const offersSignUp = useOffersSignUp();
  const returnUrl = params.get('returnUrl') ?? undefined;
  return (
    <FormCard
      title={t('Log in')}
      below={
        offersSignUp && (
          <>
            {t('No account yet?')} <Link to={paths.signUp(returnUrl)}>{t('Sign up')}</Link>
          </>
        )
      }
    >
      {path === ROUTES.recovery.path && (
        <Note>{t('Nobody logs in with a password here. Choose another way to log in.')}</Note>
      )}
      <OtherSignInMethods returnUrl={returnUrl} isAlone>
        <PasskeyLogin />
      </OtherSignInMethods>
    </FormCard>
  );
}
