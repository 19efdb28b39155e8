import { useT } from '../../../i18n/i18n.ts';
import classes from './Calculator.module.css';

/** Marks an offer of the simulated cloud. */
export function Simulated() {
  const t = useT();
  return (
    <span className={classes.mark} title={t('Creates no real machines: for testing only')}>
      {t('Simulated')}
    </span>
  );
}
