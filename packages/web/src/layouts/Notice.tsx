import type { ReactNode } from 'react';
import classes from './Notices.module.css';

/** A line above the page that concerns all of it. */
export function Notice({ title, detail, action }: { title: string; detail: string; action?: ReactNode }) {
  return (
    <div className={classes.notice} role="status">
      <strong>{title}</strong> <span className={classes.detail}>{detail}</span> {action}
    </div>
  );
}
