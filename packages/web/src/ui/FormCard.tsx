import type { ReactNode } from 'react';
import classes from './FormCard.module.css';

interface Props {
  title: string;
  lead?: ReactNode;
  children: ReactNode;
  /** Under the card: the way to another form, a remark. */
  below?: ReactNode;
  size?: 's' | 'm';
}

/** The frame of a page that is one form, such as sign-in or the consent page of an app. */
export function FormCard({ title, lead, children, below, size = 's' }: Props) {
  return (
    <div className={classes.column} data-size={size}>
      <h1 className={classes.title}>{title}</h1>
      {lead && <p className={classes.lead}>{lead}</p>}
      <div className={classes.card}>{children}</div>
      {below && <p className={classes.below}>{below}</p>}
    </div>
  );
}
