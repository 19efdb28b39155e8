import { Button } from '@mantine/core';
import { Link } from 'react-router';
import { useT } from '../i18n/i18n.ts';
import { paths } from '../paths.ts';
import { Message } from './Message.tsx';

export function NotFound() {
  const t = useT();
  return (
    <Message
      code="404"
      title={t('Page not found')}
      action={
        <Button component={Link} to={paths.home()} variant="default">
          {t('Go to the start page')}
        </Button>
      }
    >
      {t('There is nothing at this address, or it belongs to another workspace.')}
    </Message>
  );
}
