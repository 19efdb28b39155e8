import { Suspense } from 'react';
import { useSite } from '../api/site.ts';
import { useUserState } from '../api/user.ts';
import { lazyComponent } from '../lazyChunks.ts';
import { useRoute } from '../navigation/useRoute.ts';
import { Banners } from './Banners.tsx';
import { DemoNotice } from './DemoNotice.tsx';

// Loaded lazily, as most visitors never see them.
const AccountNotices = lazyComponent(async () => (await import('./AccountNotices.tsx')).AccountNotices);
const PublicOutboxNotice = lazyComponent(async () => (await import('./PublicOutboxNotice.tsx')).PublicOutboxNotice);
const AccountErrorNotice = lazyComponent(async () => (await import('./AccountErrorNotice.tsx')).AccountErrorNotice);

/** Between header and page: the operator's banners and notices about the account. */
export function Notices() {
  const state = useUserState();
  const route = useRoute();
  const { isOutboxPublic } = useSite();
  return (
    <>
      <Banners />
      {state.is === 'anonymous' && route.demoNotice && <DemoNotice />}
      <Suspense fallback={null}>
        {isOutboxPublic && <PublicOutboxNotice />}
        {state.is === 'signed-in' && <AccountNotices user={state.user} />}
        {state.is === 'failed' && route.public && <AccountErrorNotice error={state.error} retry={state.retry} />}
      </Suspense>
    </>
  );
}
