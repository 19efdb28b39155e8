import type { ContentPage } from '@stagi/contract/content.ts';
import { LOCALE } from '@stagi/contract/languages.ts';
import type { ReactNode } from 'react';
import { errorText } from '../../api/messages.ts';
import { useT } from '../../i18n/i18n.ts';
import { useLanguage } from '../../preferences/preferences.ts';
import { ErrorState } from '../../ui/ErrorState.tsx';
import { DetailSkeleton } from '../../ui/Skeletons.tsx';
import classes from './Written.module.css';
import { WrittenText } from './WrittenText.tsx';

interface Props {
  of: { page: ContentPage | undefined; error: Error | null; retrying: boolean; retry(): void };
  /** Between the title and the text. */
  intro?: (page: ContentPage) => ReactNode;
}

/** A written page: its title and text, what loads and what failed. */
export function Written({ of: { page, error, retrying, retry }, intro }: Props) {
  const t = useT();
  const { language } = useLanguage();
  if (!page)
    return error ? <ErrorState message={errorText(error)} onRetry={retry} retrying={retrying} /> : <DetailSkeleton />;
  const isForeign = page.language !== language;
  return (
    <article className={classes.article}>
      <div lang={isForeign ? LOCALE[page.language] : undefined} data-written>
        <h1>{page.title}</h1>
      </div>
      {isForeign && <p className={classes.foreign}>{t('This page is not translated yet: it is in English.')}</p>}
      {intro?.(page)}
      <div lang={isForeign ? LOCALE[page.language] : undefined} data-written>
        <WrittenText text={page.text} />
      </div>
    </article>
  );
}
