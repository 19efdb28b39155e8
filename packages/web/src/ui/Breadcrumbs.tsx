import type { ComponentType, ReactNode } from 'react';
import { useT } from '../i18n/i18n.ts';
import classes from './Breadcrumbs.module.css';

/** A link of the app's router. */
export type CrumbLink = ComponentType<{ to: string; children?: ReactNode }>;

interface Props {
  /** From the section down; the page itself is `here`. */
  above: readonly { to: string; title: string }[];
  here: string;
  link: CrumbLink;
}

/** The way from the section to this page. */
export function Breadcrumbs({ above, here, link: Link }: Props) {
  const t = useT();
  return (
    <nav aria-label={t('Breadcrumbs')}>
      <ol className={classes.crumbs}>
        {above.map(({ to, title }) => (
          <li key={to} title={title}>
            <Link to={to}>{title}</Link>
          </li>
        ))}
        <li aria-current="page" title={here}>
          {here}
        </li>
      </ol>
    </nav>
  );
}
