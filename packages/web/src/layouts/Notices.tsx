import { Suspense } from 'react';
import { useUserState } from '../api/user.ts';
import { lazyPart } from '../ui/parts.ts';
import { Banners } from './Banners.tsx';
import { DemoNotice } from './DemoNotice.tsx';
import { useBalance } from './useBalance.ts';
import { useRoute } from './useRoute.ts';

// What is wrong is seldom shown: it does not weigh on the first page.
const NoAccount = lazyPart(async () => (await import('./NoAccount.tsx')).NoAccount);
const ZeroNotice = lazyPart(async () => (await import('./ZeroNotice.tsx')).ZeroNotice);
const LedgerAlarm = lazyPart(async () => (await import('./LedgerAlarm.tsx')).LedgerAlarm);

/** What stands between the header and the page: the operator's banners, what is wrong with the account. */
export function Notices() {
  const state = useUserState();
  const route = useRoute();
  return (
    <>
      <Banners />
      {state.is === 'anonymous' && route.demoNotice && <DemoNotice />}
      {state.is === 'here' && state.user.workspace && (
        <ZeroBalance mayStart={state.user.permissions.includes('INSTANCE_RENTED_MANAGEMENT')} />
      )}
      {state.is === 'here' && state.user.permissions.includes('EMPLOYEE') && (
        <Suspense fallback={null}>
          <LedgerAlarm />
        </Suspense>
      )}
      {state.is === 'failed' && route.public && (
        <Suspense fallback={null}>
          <NoAccount error={state.error} retry={state.retry} />
        </Suspense>
      )}
    </>
  );
}

function ZeroBalance({ mayStart }: { mayStart: boolean }) {
  const { data } = useBalance();
  if (!data?.exhausted) return null;
  return (
    <Suspense fallback={null}>
      <ZeroNotice isZero={Number(data.clientBalance.STAGI.decimalValue) === 0} mayStart={mayStart} />
    </Suspense>
  );
}
