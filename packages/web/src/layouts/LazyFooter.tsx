import { Suspense } from 'react';
import { lazyComponent } from '../lazyChunks.ts';

const Footer = lazyComponent(async () => (await import('./Footer.tsx')).Footer);

/** Pages of signed-in people have no footer, so its code is no part of every first page. */
export function LazyFooter() {
  return (
    <Suspense>
      <Footer />
    </Suspense>
  );
}
