import type { ReactNode } from 'react';
import classes from './ConsentPage.module.css';

interface Props {
  title: string;
  lead?: ReactNode;
  children: ReactNode;
  /** Under the card. */
  below?: ReactNode;
}

/** The frame of what is between an app and its user. */
export function AppCard({ title, lead, children, below }: Props) {
  return (
    <div className={classes.column}>
      <h1 className={classes.title}>{title}</h1>
      {lead && <p className={classes.lead}>{lead}</p>}
      <div className={classes.card}>{children}</div>
      {below && <p className={classes.below}>{below}</p>}
    </div>
  );
}
