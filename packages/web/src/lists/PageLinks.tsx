import { IconChevronLeft, IconChevronRight } from '@tabler/icons-react';
import { Link, useSearchParams } from 'react-router';
import { useT } from '../i18n/i18n.ts';
import classes from './PageLinks.module.css';

/** The pages of a public list as links: they are fetched ahead, and open in another tab too. */
export function PageLinks({ page, totalPages }: { page: number; totalPages: number }) {
  const t = useT();
  const [params] = useSearchParams();
  if (totalPages < 2) return null;

  function addressOf(number: number): string {
    const next = new URLSearchParams(params);
    if (number === 1) next.delete('page');
    else next.set('page', String(number));
    return next.size === 0 ? '?' : `?${next}`;
  }

  return (
    <nav className={classes.pages} aria-label={t('Pages')}>
      {page > 1 && (
        <Link to={addressOf(page - 1)} aria-label={t('Previous page')} rel="prev">
          <IconChevronLeft size={16} aria-hidden="true" />
        </Link>
      )}
      {shownPages(page, totalPages).map((number, index, all) => (
        <span key={number} className={classes.page}>
          {index > 0 && number > (all[index - 1] ?? 0) + 1 && <span aria-hidden="true">…</span>}
          <Link
            to={addressOf(number)}
            aria-label={t('Page {{number}}', { number })}
            aria-current={number === page ? 'page' : undefined}
          >
            {number}
          </Link>
        </span>
      ))}
      {page < totalPages && (
        <Link to={addressOf(page + 1)} aria-label={t('Next page')} rel="next">
          <IconChevronRight size={16} aria-hidden="true" />
        </Link>
      )}
    </nav>
  );
}

/** The first, the last, and those around the current one. */
function shownPages(page: number, totalPages: number): number[] {
  return Array.from({ length: totalPages }, (_, index) => index + 1).filter(
    (number) => number === 1 || number === totalPages || Math.abs(number - page) <= 1,
  );
}
