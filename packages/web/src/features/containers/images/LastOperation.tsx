import type { ImageOperation } from '@stagi/contract/serverImages.ts';
import { useT } from '../../../i18n/i18n.ts';
import { formatDecimalBytes } from '../../../ui/format.ts';
import { Note } from '../../../ui/Note.tsx';
import { TimeAgo } from '../../../ui/Time.tsx';

/** How long an outcome stays in sight. */
const SHOWN_MS = 10 * 60_000;

/** What became of the last removal. */
export function LastOperation({ operations }: { operations: readonly ImageOperation[] }) {
  const t = useT();
  const last = operations.find(({ kind }) => kind !== 'preview');
  if (!last || Date.now() - Date.parse(last.answeredAt ?? last.askedAt) > SHOWN_MS) return null;
  const named = { reference: last.reference ?? '' };
  switch (last.state) {
    case 'waiting':
      return (
        <Note
          title={
            last.reference === null
              ? t('The server is removing unused images')
              : t('The server is removing {{reference}}', named)
          }
        />
      );
    case 'refused':
      return (
        <Note
          tone="bad"
          title={
            last.reference === null
              ? t('The unused images could not be removed')
              : t('{{reference}} could not be removed', named)
          }
        >
          {last.message && t(last.message)}
        </Note>
      );
    case 'expired':
      return <Note tone="warn" title={t('The server did not answer: nothing may have been removed')} />;
    case 'done':
      return (
        <Note title={last.reference === null ? t('Unused images were removed') : t('{{reference}} was removed', named)}>
          {t('{{size}} were freed', { size: formatDecimalBytes(last.freedBytes ?? 0) })}
          {last.answeredAt && (
            <>
              {' · '}
              <TimeAgo at={last.answeredAt} />
            </>
          )}
        </Note>
      );
    default:
      return last.state satisfies never;
  }
}
