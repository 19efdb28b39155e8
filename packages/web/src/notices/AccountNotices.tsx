import { Suspense } from 'react';
import type { CurrentUser } from '../api/user.ts';
import { useBalance } from '../balance/useBalance.ts';
import { lazyComponent } from '../lazyChunks.ts';

const ZeroBalanceNotice = lazyComponent(async () => (await import('./ZeroBalanceNotice.tsx')).ZeroBalanceNotice);
const LowBalanceNotice = lazyComponent(async () => (await import('./LowBalanceNotice.tsx')).LowBalanceNotice);
const NoWorkspaceNotice = lazyComponent(async () => (await import('./NoWorkspaceNotice.tsx')).NoWorkspaceNotice);
const HeldNotice = lazyComponent(async () => (await import('./HeldNotice.tsx')).HeldNotice);
const LedgerAlarm = lazyComponent(async () => (await import('./LedgerAlarm.tsx')).LedgerAlarm);
const MailAlarm = lazyComponent(async () => (await import('./MailAlarm.tsx')).MailAlarm);

/** What somebody who is signed in must know on every page. */
export function AccountNotices({ user }: { user: CurrentUser }) {
  return (
    <Suspense fallback={null}>
      {user.profile.platformHeldSince && <HeldNotice since={user.profile.platformHeldSince} />}
      {user.workspace ? <BalanceNotice permissions={user.permissions} /> : <NoWorkspaceNotice />}
      {user.permissions.includes('EMPLOYEE') && (
        <>
          <MailAlarm />
          <LedgerAlarm />
        </>
      )}
    </Suspense>
  );
}

function BalanceNotice({ permissions }: Pick<CurrentUser, 'permissions'>) {
  const { data: balance } = useBalance();
  if (!balance) return null;
  if (balance.exhausted) return <ZeroBalanceNotice balance={balance} permissions={permissions} />;
  const isLow = balance.daysLeft !== null && balance.daysLeft < 1;
  return isLow && Number(balance.reserve) > 0 ? <LowBalanceNotice /> : null;
}
