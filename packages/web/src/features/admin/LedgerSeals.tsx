import type { api } from '@stagi/contract/api.ts';
import type { OutputOf } from '@stagi/contract/call.ts';
import { useT } from '../../i18n/i18n.ts';
import { CopyButton } from '../../ui/CopyButton.tsx';
import { formatDay, formatNumber } from '../../ui/format.ts';
import classes from './Admin.module.css';

/** The hashes that sealed the last days. The platform logs them too. */
export function LedgerSeals({ seals }: Pick<OutputOf<typeof api.ledger.list>, 'seals'>) {
  const t = useT();
  return (
    <section style={{ marginTop: 24 }}>
      <h2 className={classes.title}>{t('Seals')}</h2>
      <ul className={classes.rows}>
        {seals.map(({ day, journals, hash }) => (
          <li key={day}>
            <span className={classes.row}>
              <span className="mono">{formatDay(day)}</span>
              <span className={classes.small}>{t('{{number}} journals', { number: formatNumber(journals) })}</span>
            </span>
            <span className={classes.inline}>
              <span className="mono">{hash.slice(0, 16)}…</span>
              <CopyButton value={hash} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
