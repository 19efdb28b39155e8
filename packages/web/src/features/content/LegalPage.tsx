import { useWrittenPage } from './useWritten.ts';
import classes from './Written.module.css';
import { Written } from './Written.tsx';

/** A legal page: the operator's name, address and date stand in its text. */
export function LegalPage() {
  return (
    <div className={classes.narrow}>
      <Written of={useWrittenPage()} />
    </div>
  );
}
