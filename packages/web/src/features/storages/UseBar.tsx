import { Progress } from '@mantine/core';
import { GB } from '@stagi/contract/storageRules.ts';
import type { Storage } from '@stagi/contract/storages.ts';
import { useT } from '../../i18n/i18n.ts';
import { formatDecimalBytes, formatNumber } from '../../ui/format.ts';
import classes from './Storages.module.css';

/** From here on the bar warns. */
const NEARLY_FULL = 0.9;

/** How full a storage is. */
export function UseBar({ storage: { kind, usedBytes, sizeGb } }: { storage: Storage }) {
  const t = useT();
  const part = usedBytes / (sizeGb * GB);
  const used = t('{{used}} of {{size}} GB', { used: formatDecimalBytes(usedBytes), size: formatNumber(sizeGb, 0) });
  // A full log bucket is no cause for alarm: its oldest lines go.
  const isTight = kind === 'storage' && part >= NEARLY_FULL;
  return (
    <span className={classes.use}>
      <span>{used}</span>
      <Progress size="sm" value={Math.min(100, part * 100)} color={isTight ? 'red' : undefined} aria-label={used} />
    </span>
  );
}
