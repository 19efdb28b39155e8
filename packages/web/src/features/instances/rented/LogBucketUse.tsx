import { Progress, Stack } from '@mantine/core';
import type { Instance } from '@stagi/contract/instances.ts';
import { GB } from '@stagi/contract/storageRules.ts';
import { useT } from '../../../i18n/i18n.ts';
import { formatBytes, formatNumber } from '../../../ui/format.ts';

/** How full the log bucket of a server is. */
export function LogBucketUse({ bucket }: { bucket: NonNullable<Instance['logBucket']> }) {
  const t = useT();
  const used = t('{{used}} of {{gb}} GB used, free', {
    used: formatBytes(bucket.usedBytes),
    gb: formatNumber(bucket.sizeGb, 0),
  });
  return (
    <Stack gap={4}>
      <span>{used}</span>
      <Progress size="sm" value={(bucket.usedBytes / (bucket.sizeGb * GB)) * 100} aria-label={used} />
    </Stack>
  );
}
