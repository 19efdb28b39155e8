import { Link } from 'react-router';
import { useSignedIn } from '../api/session.ts';
import { useT } from '../i18n/i18n.ts';
import { paths } from '../paths.ts';
import { Button } from '../ui/Button.tsx';
import { MessagePage } from './MessagePage.tsx';
import { WaysOn } from './WaysOn.tsx';

export function NotFound() {
  const t = useT();
  const signedIn = useSignedIn();
  return (
    <MessagePage
      code="404"
      title={t('Page not found')}
      action={
        <Button color="gray" component={Link} to={paths.home()}>
          {t('Go to the start page')}
        </Button>
      }
      ways={<WaysOn />}
    >
      {signedIn
        ? t('There is nothing at this address, or it belongs to another workspace. You can switch in the profile menu.')
        : t('There is nothing at this address. Check it for typing mistakes, or go on from one of these pages.')}
    </MessagePage>
  );
}
