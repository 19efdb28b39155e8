import { Suspense } from 'react';
import type { CurrentUser } from '../api/user.ts';
import { lazyPart } from '../ui/parts.ts';
import { useBalance } from './useBalance.ts';

const ZeroNotice = lazyPart(async () => (await import('./ZeroNotice.tsx')).ZeroNotice);
const LowBalance = lazyPart(async () => (await import('./LowBalance.tsx')).LowBalance);
const NoWorkspace = lazyPart(async () => (await import('./NoWorkspace.tsx')).NoWorkspace);
const LedgerAlarm = lazyPart(async () => (await import('./LedgerAlarm.tsx')).LedgerAlarm);

/** What somebody who is signed in must know on every page. */
export function AccountNotices({ user }: { user: CurrentUser }) {
  return (
    <Suspense fallback={null}>
      {user.workspace ? <BalanceNotice permissions={user.permissions} /> : <NoWorkspace />}
      {user.permissions.includes('EMPLOYEE') && <LedgerAlarm />}
    </Suspense>
  );
}

function BalanceNotice({ permissions }: Pick<CurrentUser, 'permissions'>) {
  const { data: balance } = useBalance();
  if (!balance) return null;
  if (balance.exhausted) return <ZeroNotice balance={balance} permissions={permissions} />;
  const isLow = balance.daysLeft !== null && balance.daysLeft < 1;
  return isLow && Number(balance.reserve) > 0 ? <LowBalance /> : null;
}
