import { Suspense } from 'react';
import { useUserState } from '../api/user.ts';
import { lazyPart } from '../ui/parts.ts';
import { Banners } from './Banners.tsx';
import { DemoNotice } from './DemoNotice.tsx';
import { useRoute } from './useRoute.ts';

// They weigh on no first page of a visitor.
const AccountNotices = lazyPart(async () => (await import('./AccountNotices.tsx')).AccountNotices);
const NoAccount = lazyPart(async () => (await import('./NoAccount.tsx')).NoAccount);

/** What stands between the header and the page: the operator's banners, what is wrong with the account. */
export function Notices() {
  const state = useUserState();
  const route = useRoute();
  return (
    <>
      <Banners />
      {state.is === 'anonymous' && route.demoNotice && <DemoNotice />}
      <Suspense fallback={null}>
        {state.is === 'here' && <AccountNotices user={state.user} />}
        {state.is === 'failed' && route.public && <NoAccount error={state.error} retry={state.retry} />}
      </Suspense>
    </>
  );
}
