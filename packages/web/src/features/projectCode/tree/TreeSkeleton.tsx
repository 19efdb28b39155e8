import { Skeleton } from '@mantine/core';

/** As high as most folders, so that little moves when one arrives. */
export function TreeSkeleton() {
  return (
    <>
      <Skeleton height={36} width={240} mb={16} />
      <Skeleton height={360} />
    </>
  );
}
