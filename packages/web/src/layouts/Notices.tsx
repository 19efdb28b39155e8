import { UnstyledButton } from '@mantine/core';
import { type ReactNode, Suspense } from 'react';
import { errorText } from '../api/messages.ts';
import { useUserState } from '../api/user.ts';
import { useT } from '../i18n/i18n.ts';
import { lazyPart } from '../ui/parts.ts';
import { Banners } from './Banners.tsx';
import { DemoNotice } from './DemoNotice.tsx';
import classes from './Notices.module.css';
import { useBalance } from './useBalance.ts';
import { useRoute } from './useRoute.ts';

const LedgerAlarm = lazyPart(async () => (await import('./LedgerAlarm.tsx')).LedgerAlarm);

/** What stands between the header and the page: the operator's banners, what is wrong with the account. */
export function Notices() {
  const state = useUserState();
  const route = useRoute();
  return (
    <>
      <Banners />
      {state.is === 'anonymous' && route.demoNotice && <DemoNotice />}
      {state.is === 'here' && state.user.workspace && <ZeroBalance />}
      {state.is === 'here' && state.user.permissions.includes('EMPLOYEE') && (
        <Suspense fallback={null}>
          <LedgerAlarm />
        </Suspense>
      )}
      {state.is === 'failed' && route.public && <NoAccount error={state.error} retry={state.retry} />}
    </>
  );
}

function ZeroBalance() {
  const t = useT();
  const { data } = useBalance();
  if (!data?.exhausted) return null;
  return (
    <Notice
      title={t('You have no STAGI left. All your instances and tasks are paused.')}
      detail={t('Servers were stopped and running tasks canceled; their data is kept for 14 days.')}
    />
  );
}

/** A public page is readable without the account; the rest of it is one click away. */
function NoAccount({ error, retry }: { error: Error; retry(): void }) {
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

function Notice({ title, detail, action }: { title: string; detail: string; action?: ReactNode }) {
  return (
    <div className={classes.notice} role="status">
      <strong>{title}</strong> <span className={classes.detail}>{detail}</span> {action}
    </div>
  );
}
