import type { ContentEntry } from '@stagi/contract/content.ts';
import { LOCALE } from '@stagi/contract/languages.ts';
import { Link } from 'react-router';
import { errorText } from '../../api/messages.ts';
import { useT } from '../../i18n/i18n.ts';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { DetailSkeleton } from '../../ui/Skeletons.tsx';
import { addressOf } from './addressOf.ts';
import classes from './EntryList.module.css';
import { PostDate } from './PostDate.tsx';

interface Props {
  of: { entries: readonly ContentEntry[] | undefined; error: Error | null; retrying: boolean; retry(): void };
}

/** Written pages with a sentence on each. */
export function EntryList({ of: { entries, error, retrying, retry } }: Props) {
  const t = useT();
  if (!entries)
    return error ? <ErrorState message={errorText(error)} onRetry={retry} retrying={retrying} /> : <DetailSkeleton />;
  if (entries.length === 0) return <p className="muted">{t('Nothing is written here yet.')}</p>;
  return (
    <ul className={classes.list}>
      {entries.map((entry) => (
        <li key={entry.path} className={classes.entry} lang={LOCALE[entry.language]} data-written>
          {entry.date && <PostDate date={entry.date} />}
          <h2>
            <Link to={addressOf(entry)}>{entry.title}</Link>
          </h2>
          <p>{entry.description}</p>
        </li>
      ))}
    </ul>
  );
}
