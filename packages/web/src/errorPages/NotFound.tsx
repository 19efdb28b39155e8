import { Link } from 'react-router';
import { useT } from '../i18n/i18n.ts';
import { paths } from '../paths.ts';
import { Button } from '../ui/Button.tsx';
import { MessagePage } from './MessagePage.tsx';

export function NotFound() {
  const t = useT();
  return (
    <MessagePage
      code="404"
      title={t('Page not found')}
      action={
        <Button color="gray" component={Link} to={paths.home()}>
          {t('Go to the start page')}
        </Button>
      }
    >
      {t('There is nothing at this address, or it belongs to another workspace.')}
    </MessagePage>
  );
}
