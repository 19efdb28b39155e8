import { type ComponentProps, Suspense } from 'react';
import { lazyComponent } from '../lazyChunks.ts';
import { MetricsSkeleton } from './MetricsSkeleton.tsx';

/** Code of its own, with the library that draws: a page does not wait for it. */
const MetricsView = lazyComponent(async () => (await import('./MetricsView.tsx')).MetricsView);

export function LazyMetrics(props: ComponentProps<typeof MetricsView>) {
  return (
    <Suspense fallback={<MetricsSkeleton />}>
      <MetricsView {...props} />
    </Suspense>
  );
}
