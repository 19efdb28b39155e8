import { UnstyledButton } from '@mantine/core';
import { errorText } from '../api/messages.ts';
import { useT } from '../i18n/i18n.ts';
import { Notice } from './Notice.tsx';
import classes from './Notices.module.css';

/** A public page is readable without the account; the rest of it is one click away. */
export function AccountErrorNotice({ error, retry }: { error: Error; retry(): void }) {
  const t = useT();
  return (
    <Notice
      title={t('Your account could not be loaded')}
      detail={errorText(error)}
      action={
        <UnstyledButton className={classes.action} onClick={retry}>
          {t('Try again')}
        </UnstyledButton>
      }
    />
  );
}
