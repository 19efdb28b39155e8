import { Link } from 'react-router';
import { useT } from '../i18n/i18n.ts';
import { paths } from '../paths.ts';
import { Button } from '../ui/Button.tsx';
import { Message } from './Message.tsx';

export function Forbidden() {
  const t = useT();
  return (
    <Message
      code="403"
      title={t('No access')}
      action={
        <Button color="gray" component={Link} to={paths.home()}>
          {t('Go to the start page')}
        </Button>
      }
    >
      {t('Your role in this workspace does not allow this. An owner or admin of the workspace can change it.')}
    </Message>
  );
}
