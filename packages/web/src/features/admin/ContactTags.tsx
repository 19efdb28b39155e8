import type { ContactRequest } from '@stagi/contract/contact.ts';
import { useT } from '../../i18n/i18n.ts';
import { Tag } from '../../ui/Tag.tsx';
import classes from './Admin.module.css';

/** Whether a request is open, and whether a program seems to have sent it. */
export function ContactTags({ request: { handled, looksAutomated } }: { request: ContactRequest }) {
  const t = useT();
  return (
    <span className={classes.inline}>
      {handled ? <Tag>{t('Handled')}</Tag> : <Tag color="primary">{t('Not handled')}</Tag>}
      {looksAutomated && <Tag>{t('Looks automated')}</Tag>}
    </span>
  );
}
