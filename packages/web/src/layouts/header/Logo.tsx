import { BRAND } from '@stagi/contract/brand.ts';
import { Link, useLocation } from 'react-router';
import { track } from '../../api/analytics.ts';
import { useT } from '../../i18n/i18n.ts';
import { paths } from '../../paths.ts';
import classes from './Logo.module.css';

/** A link to the start page, except on it. */
export function Logo() {
  const t = useT();
  const { pathname } = useLocation();
  if (pathname === paths.home()) {
    return (
      <span className={classes.logo}>
        <Mark />
      </span>
    );
  }
  return (
    <Link
      to={paths.home()}
      className={classes.logo}
      aria-label={t('{{brand}}: to the start page', { brand: BRAND })}
      onClick={() => track('header_tab_logo_clicked')}
    >
      <Mark />
    </Link>
  );
}

/** Three staggered slabs: servers in a rack, and the first letter. */
function Mark() {
  return (
    <>
      <svg width="22" height="22" viewBox="0 0 22 22" aria-hidden="true">
        <rect x="6" y="2" width="15" height="5" rx="1.5" fill="currentColor" opacity="0.55" />
        <rect x="3.5" y="8.5" width="15" height="5" rx="1.5" fill="currentColor" opacity="0.8" />
        <rect x="1" y="15" width="15" height="5" rx="1.5" fill="currentColor" />
      </svg>
      <span className={classes.word}>{BRAND}</span>
    </>
  );
}
