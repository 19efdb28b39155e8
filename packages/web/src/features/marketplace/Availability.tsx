import type { Offer } from '@stagi/contract/hardware.ts';
import { useT } from '../../i18n/i18n.ts';
import { exactTime } from '../../ui/format.ts';
import classes from './Marketplace.module.css';

/** How many machines are left, as a word and bars, not by colour alone. */
export function Availability({ of: { availability, seenAt } }: { of: Offer }) {
  const t = useT();
  return (
    <span
      className={classes.availability}
      data-level={availability}
      title={t('Seen {{time}}', { time: exactTime(seenAt) })}
    >
      <svg width="12" height="10" viewBox="0 0 12 10" aria-hidden="true">
        <rect x="0" y="6" width="3" height="4" rx="0.5" />
        <rect x="4.5" y="3" width="3" height="7" rx="0.5" />
        <rect x="9" y="0" width="3" height="10" rx="0.5" />
      </svg>
      {word()}
    </span>
  );

  function word(): string {
    switch (availability) {
      case 'available':
        return t('Available');
      case 'low':
        return t('Few left');
      case 'none':
        return t('None left');
      case 'unknown':
        return t('Unknown');
    }
  }
}
