import { Progress, Stack } from '@mantine/core';
import type { Instance } from '@stagi/contract/instances.ts';
import { GB } from '@stagi/contract/storageRules.ts';
import { Link } from 'react-router';
import { useT } from '../../../i18n/i18n.ts';
import { paths } from '../../../paths.ts';
import { formatDecimalBytes, formatNumber } from '../../../ui/format.ts';

/** How full the log bucket of a server is. */
export function LogBucketUse({ bucket }: { bucket: NonNullable<Instance['logBucket']> }) {
  const t = useT();
  const used = t('{{used}} of {{gb}} GB used, free', {
    used: formatDecimalBytes(bucket.usedBytes),
    gb: formatNumber(bucket.sizeGb, 0),
  });
  return (
    <Stack gap={4}>
      <Link to={paths.storage(bucket.storageId)}>{used}</Link>
      <Progress
        size="sm"
        value={Math.round((bucket.usedBytes / (bucket.sizeGb * GB)) * 1_000) / 10}
        aria-label={used}
      />
    </Stack>
  );
}
