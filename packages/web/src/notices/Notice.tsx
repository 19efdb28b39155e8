import type { ReactNode } from 'react';
import classes from './Notices.module.css';

interface Props {
  title: string;
  detail: string;
  action?: ReactNode;
  tone?: 'warn' | 'bad';
}

/** A line above the page that concerns all of it. */
export function Notice({ title, detail, action, tone = 'bad' }: Props) {
  return (
    <div className={classes.notice} data-tone={tone} role="status">
      <strong>{title}</strong> <span className={classes.detail}>{detail}</span> {action}
    </div>
  );
}
