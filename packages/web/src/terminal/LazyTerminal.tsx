import { Skeleton } from '@mantine/core';
import { type ComponentProps, Suspense } from 'react';
import { lazyComponent } from '../lazyChunks.ts';
import type { TerminalView } from './TerminalView.tsx';

/** Code of its own: a page does not wait for it. */
const View = lazyComponent(async () => (await import('./TerminalView.tsx')).TerminalView);

/** The terminals of a container or a server. */
export function LazyTerminal(props: ComponentProps<typeof TerminalView>) {
  return (
    <Suspense fallback={<Skeleton height={240} />}>
      <View key={`${props.place.type}/${props.place.id}`} {...props} />
    </Suspense>
  );
}
