import { IconAlertTriangle, IconInfoCircle } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import classes from './Note.module.css';

interface Props {
  tone?: 'info' | 'warn' | 'bad';
  title?: ReactNode;
  children?: ReactNode;
  /** What one can do about it. */
  action?: ReactNode;
}

/** Something to know at this place, in a box of its own. */
export function Note({ tone = 'info', title, children, action }: Props) {
  return (
    <div className={classes.note} data-tone={tone} role={tone === 'bad' ? 'alert' : undefined}>
      <span className={classes.icon} aria-hidden="true">
        {tone === 'info' ? <IconInfoCircle size={16} /> : <IconAlertTriangle size={16} />}
      </span>
      <div className={classes.body}>
        {title && <p className={classes.title}>{title}</p>}
        {children && <div>{children}</div>}
      </div>
      {action && <div className={classes.action}>{action}</div>}
    </div>
  );
}
