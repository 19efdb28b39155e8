import { Pagination, Skeleton } from '@mantine/core';
import { IconSelector } from '@tabler/icons-react';
import { useT } from '../../i18n/i18n.ts';
import { Button } from '../Button.tsx';
import { DropdownMenu } from '../DropdownMenu.tsx';
import { formatNumber } from '../format.ts';
import { PAGE_LIMITS } from './pageLimits.ts';
import classes from './TablePager.module.css';
import type { PageOf } from './tableTypes.ts';

interface Props {
  paging: PageOf;
  onPage(page: number): void;
  /** How many rows a page has; without it that is fixed. */
  onLimit?(limit: number): void;
  /** New rows that are not shown yet, because somebody points at the list. */
  waiting?: number;
}

/** How many there are, which of them are shown, and the way to the others. */
export function TablePager({ paging, onPage, onLimit, waiting = 0 }: Props) {
  const t = useT();
  const { page, limit, totalPages, totalCount, isMore } = paging;
  const rows = {
    from: formatNumber((page - 1) * limit + 1),
    to: formatNumber(Math.min(page * limit, totalCount)),
    total: formatNumber(totalCount),
  };
  const choosable = onLimit && totalCount > PAGE_LIMITS[0];
  return (
    <nav className={classes.pager} aria-label={t('Pages')}>
      <span className={classes.count} aria-live="polite">
        {totalPages > 1
          ? isMore
            ? t('{{from}}–{{to}} of more than {{total}}', rows)
            : t('{{from}}–{{to}} of {{total}}', rows)
          : t('{{count}} in total', { count: totalCount })}
        {waiting > 0 && ` · ${t('{{count}} new', { count: waiting })}`}
      </span>
      <div className={classes.turn}>
        {choosable && (
          <DropdownMenu
            position="bottom-end"
            items={PAGE_LIMITS.map((value) => ({
              label: t('{{count}} rows', { count: value }),
              chosen: value === limit,
              onClick: () => onLimit(value),
            }))}
          >
            <Button
              color="gray"
              size="xs"
              end={<IconSelector size={14} aria-hidden="true" />}
              aria-label={`${t('Rows per page')}: ${t('{{count}} rows', { count: limit })}`}
              data-testid="page-limit"
            >
              {t('{{count}} rows', { count: limit })}
            </Button>
          </DropdownMenu>
        )}
        {totalPages > 1 && (
          <Pagination
            size="sm"
            value={page}
            total={totalPages}
            onChange={onPage}
            siblings={1}
            getItemProps={(number) => ({ 'aria-label': t('Page {{number}}', { number }) })}
            getControlProps={(control) => ({
              'aria-label':
                control === 'previous' ? t('Previous page') : control === 'next' ? t('Next page') : undefined,
            })}
          />
        )}
      </div>
    </nav>
  );
}

/** The place of the pager while the list loads. */
export function PagerSkeleton() {
  return (
    <div className={classes.pager}>
      <Skeleton height={12} width={80} />
    </div>
  );
}
