import { Pagination } from '@mantine/core';
import { useT } from '../i18n/i18n.ts';
import type { PageOf } from './DataTable.tsx';
import classes from './TablePager.module.css';

/** How many there are, which of them are shown, and the way to the others. */
export function TablePager({ paging, onPage }: { paging: PageOf; onPage(page: number): void }) {
  const t = useT();
  const { page, limit, totalPages, totalCount } = paging;
  const from = (page - 1) * limit + 1;
  const to = Math.min(page * limit, totalCount);
  return (
    <div className={classes.pager}>
      <span className={classes.count} aria-live="polite">
        {totalPages > 1
          ? t('{{from}}–{{to}} of {{total}}', { from, to, total: totalCount })
          : t('{{count}} in total', { count: totalCount })}
      </span>
      {totalPages > 1 && (
        <Pagination
          size="sm"
          value={page}
          total={totalPages}
          onChange={onPage}
          siblings={1}
          getItemProps={(number) => ({ 'aria-label': t('Page {{number}}', { number }) })}
          getControlProps={(control) => ({
            'aria-label': control === 'previous' ? t('Previous page') : control === 'next' ? t('Next page') : undefined,
          })}
        />
      )}
    </div>
  );
}
