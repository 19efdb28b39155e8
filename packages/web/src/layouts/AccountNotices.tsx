import { Suspense } from 'react';
import type { CurrentUser } from '../api/user.ts';
import { lazyPart } from '../ui/parts.ts';
import { useBalance } from './useBalance.ts';

const ZeroNotice = lazyPart(async () => (await import('./ZeroNotice.tsx')).ZeroNotice);
const LedgerAlarm = lazyPart(async () => (await import('./LedgerAlarm.tsx')).LedgerAlarm);

/** What somebody who is signed in must know on every page. */
export function AccountNotices({ user }: { user: CurrentUser }) {
  return (
    <Suspense fallback={null}>
      {user.workspace && <ZeroBalance mayStart={user.permissions.includes('INSTANCE_RENTED_MANAGEMENT')} />}
      {user.permissions.includes('EMPLOYEE') && <LedgerAlarm />}
    </Suspense>
  );
}

function ZeroBalance({ mayStart }: { mayStart: boolean }) {
  const { data } = useBalance();
  if (!data?.exhausted) return null;
  return <ZeroNotice isZero={Number(data.clientBalance.STAGI.decimalValue) === 0} mayStart={mayStart} />;
}
