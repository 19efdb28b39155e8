import { Suspense } from 'react';
import { lazyComponent } from '../lazyChunks.ts';

const NotFound = lazyComponent(async () => (await import('./NotFound.tsx')).NotFound);

/** The not-found page for code that is part of every first page. */
export function LazyNotFound() {
  return (
    <Suspense>
      <NotFound />
    </Suspense>
  );
}
