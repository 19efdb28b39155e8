import type { ReactNode } from 'react';
import classes from './MessagePage.module.css';

interface Props {
  code?: string;
  title: string;
  children: ReactNode;
  action?: ReactNode;
  /** Below the action. */
  ways?: ReactNode;
}

/** A page that only says something: not found, no access, broken. */
export function MessagePage({ code, title, children, action, ways }: Props) {
  return (
    <div className={classes.message}>
      {code && <p className={classes.code}>{code}</p>}
      <h1 className={classes.title}>{title}</h1>
      <p className={classes.text}>{children}</p>
      {action && <div className={classes.action}>{action}</div>}
      {ways}
    </div>
  );
}
