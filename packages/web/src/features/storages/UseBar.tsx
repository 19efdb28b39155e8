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
  // Rounded: assistive technology is told no `2.5e-8`.
  const percent = Math.min(100, Math.round(part * 1_000) / 10);
  const used = t('{{used}} of {{size}} GB', { used: formatDecimalBytes(usedBytes), size: formatNumber(sizeGb, 0) });
  // A full log bucket is no cause for alarm: its oldest lines go.
  const isTight = kind === 'storage' && part >= NEARLY_FULL;
  return (
    <span className={classes.use}>
      <span>{used}</span>
      <Progress size="sm" value={percent} color={isTight ? 'red' : undefined} aria-label={used} />
    </span>
  );
}
