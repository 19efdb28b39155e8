import { Suspense } from 'react';
import { useUserState } from '../api/user.ts';
import { lazyComponent } from '../lazyChunks.ts';
import { useRoute } from '../navigation/useRoute.ts';
import { Banners } from './Banners.tsx';
import { DemoNotice } from './DemoNotice.tsx';

// Loaded lazily, as visitors without a session never see them.
const AccountNotices = lazyComponent(async () => (await import('./AccountNotices.tsx')).AccountNotices);
const AccountErrorNotice = lazyComponent(async () => (await import('./AccountErrorNotice.tsx')).AccountErrorNotice);

/** Between header and page: the operator's banners and notices about the account. */
export function Notices() {
  const state = useUserState();
  const route = useRoute();
  return (
    <>
      <Banners />
      {state.is === 'anonymous' && route.demoNotice && <DemoNotice />}
      <Suspense fallback={null}>
        {state.is === 'signed-in' && <AccountNotices user={state.user} />}
        {state.is === 'failed' && route.public && <AccountErrorNotice error={state.error} retry={state.retry} />}
      </Suspense>
    </>
  );
}
