import { Link } from 'react-router';
import { useSignedIn } from '../../api/session.ts';
import { useOffersSignUp } from '../../api/site.ts';
import { MessagePage } from '../../errorPages/MessagePage.tsx';
import { WaysOn } from '../../errorPages/WaysOn.tsx';
import { useT } from '../../i18n/i18n.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/Button.tsx';

/** For every invalid join link, whatever the reason. */
export function ExpiredInvitePage() {
  const t = useT();
  const signedIn = useSignedIn();
  const offersSignUp = useOffersSignUp() && !signedIn;
  return (
    <MessagePage
      title={t('This invitation can no longer be used')}
      action={
        <>
          {offersSignUp && (
            <Button component={Link} to={paths.signUp()}>
              {t('Sign up')}
            </Button>
          )}
          <Button color="gray" component={Link} to={paths.home()}>
            {t('Go to the start page')}
          </Button>
        </>
      }
      ways={<WaysOn />}
    >
      {t('It has expired, was already used or was revoked. Ask the sender for a new one.')}
      {offersSignUp && (
        <>
          <br />
          {t('Without an invitation you can sign up and begin with a workspace of your own.')}
        </>
      )}
    </MessagePage>
  );
}
