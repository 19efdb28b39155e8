import { useT } from '../i18n/i18n.ts';
import { Button } from '../ui/Button.tsx';
import classes from './Objects.module.css';
import type { useFolder } from './useFolder.ts';

/** How many rows of a folder are shown, and the button that lists more. */
export function MoreRows({ list }: { list: ReturnType<typeof useFolder> }) {
  const t = useT();
  return (
    <div className={classes.more}>
      {list.rows && list.rows.length > 0 && (
        <span role="status">{t('{{count}} shown', { count: list.rows.length })}</span>
      )}
      {list.isMore && (
        <Button color="gray" size="xs" onClick={list.loadMore} loading={list.loadingMore} data-testid="load-more">
          {t('Load more')}
        </Button>
      )}
    </div>
  );
}
