import type { ReactNode } from 'react';
import classes from './SignCard.module.css';

interface Props {
  title: string;
  lead?: ReactNode;
  children: ReactNode;
  /** The way to the other form, under the card. */
  below?: ReactNode;
}

/** The frame of sign-up, confirmation and sign-in. */
export function SignCard({ title, lead, children, below }: Props) {
  return (
    <div className={classes.column}>
      <h1 className={classes.title}>{title}</h1>
      {lead && <p className={classes.lead}>{lead}</p>}
      <div className={classes.card}>{children}</div>
      {below && <p className={classes.below}>{below}</p>}
    </div>
  );
}
