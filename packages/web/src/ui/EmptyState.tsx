import type { ReactNode } from 'react';
import classes from './EmptyState.module.css';

interface Props {
  title: string;
  /** What this place is for, or what to do next. */
  children?: ReactNode;
  icon?: ReactNode;
  /** The button of the next step. */
  action?: ReactNode;
}

/** A place with nothing in it yet: teaches the next step. */
export function EmptyState({ title, children, icon, action }: Props) {
  return (
    <div className={classes.state}>
      {icon && <div className={classes.icon}>{icon}</div>}
      <p className={classes.title}>{title}</p>
      {children && <div className={classes.text}>{children}</div>}
      {action && <div className={classes.action}>{action}</div>}
    </div>
  );
}
