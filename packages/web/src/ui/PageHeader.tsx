import type { ReactNode } from 'react';
import { useT } from '../i18n/i18n.ts';
import { CopyButton } from './CopyButton.tsx';
import classes from './PageHeader.module.css';

interface Props {
  title: string;
  /** Shown in mono with a copy button: the "Unique ID". */
  slug?: string;
  status?: ReactNode;
  /** One line under the title: the evidence of the status, or what the page is for. */
  children?: ReactNode;
  /** The actions of the moment, at the right. */
  actions?: ReactNode;
}

export function PageHeader({ title, slug, status, children, actions }: Props) {
  const t = useT();
  return (
    <header className={classes.header}>
      <div className={classes.text}>
        <div className={classes.line}>
          <h1 className={classes.title}>{title}</h1>
          {status}
          {slug && (
            <span className={classes.slug}>
              <span className="mono">{slug}</span>
              <CopyButton value={slug} label={t('Copy the Unique ID')} />
            </span>
          )}
        </div>
        {children && <div className={classes.below}>{children}</div>}
      </div>
      {actions && <div className={classes.actions}>{actions}</div>}
    </header>
  );
}
