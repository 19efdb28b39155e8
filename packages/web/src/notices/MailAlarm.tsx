import type { MailFailureReason } from '@stagi/contract/adminSystem.ts';
import { api } from '@stagi/contract/api.ts';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { q } from '../api/query.ts';
import { type T, useT } from '../i18n/i18n.ts';
import { paths } from '../paths.ts';
import { formatDate } from '../ui/format.ts';
import { Notice } from './Notice.tsx';
import classes from './Notices.module.css';

/** With the check of the server, a failure is shown within a minute. */
const REFETCH_MS = 10_000;

/** For operators, on every page: mails cannot be sent, so nobody can sign up or recover a password. */
export function MailAlarm() {
  const t = useT();
  const { data } = useQuery({ ...q(api.adminSystem.view, {}, { quiet: true }), refetchInterval: REFETCH_MS });
  const mail = data?.entity.mail;
  const help = (
    <Link className={classes.action} to={paths.mailHelp()}>
      {t('What to do')}
    </Link>
  );
  if (mail?.state === 'none')
    return (
      <Notice
        title={t('This platform has no mail server.')}
        detail={t('Nobody can sign up or recover a password until SMTP_URL is set.')}
        action={help}
      />
    );
  if (mail?.state !== 'failing' || mail.reason === null || mail.since === null) return null;
  return (
    <Notice
      title={t('Mails cannot be sent since {{moment}}.', { moment: formatDate(mail.since) })}
      detail={[reasonText(t, mail.reason), mail.detail].filter(Boolean).join(' ')}
      action={help}
    />
  );
}

function reasonText(t: T, reason: MailFailureReason): string {
  switch (reason) {
    case 'unreachable':
      return t('The mail server cannot be reached:');
    case 'silent':
      return t('The mail server does not answer:');
    case 'tls':
      return t('The connection to the mail server cannot be secured:');
    case 'sign-in':
      return t('The mail server refuses user or password:');
    case 'refused':
      return t('The mail server refuses the connection:');
    case 'sender':
      return t('The mail server refuses the sender, MAIL_FROM:');
  }
}
