import type { ReactNode } from 'react';
import classes from './ListBar.module.css';

/** The line over a list: search and filters left, what else there is right. */
export function ListBar({ children, end }: { children: ReactNode; end?: ReactNode }) {
  return (
    <div className={classes.bar}>
      <div className={classes.start}>{children}</div>
      {end && <div className={classes.end}>{end}</div>}
    </div>
  );
}
