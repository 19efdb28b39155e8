import type { ContentSection } from '@stagi/contract/content.ts';
import { IconMarkdown } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { useLanguage } from '../../preferences/preferences.ts';
import { Breadcrumbs } from '../../ui/Breadcrumbs.tsx';
import classes from './DocsFrame.module.css';
import { DocsMenu } from './DocsMenu.tsx';
import { DocsSearch } from './search/DocsSearch.tsx';
import { TableOfContents } from './TableOfContents.tsx';
import type { useWrittenPage } from './useWritten.ts';
import { Written } from './Written.tsx';

interface Props {
  section: Extract<ContentSection, 'docs' | 'tutorials'>;
  above: { to: string; title: string }[];
  here: string;
  /** The page, where it is a written one. */
  written?: ReturnType<typeof useWrittenPage>;
  children?: ReactNode;
}

/** Menu and search at the left, the page, its headings at the right; on a phone one below the other. */
export function DocsFrame({ section, above, here, written, children }: Props) {
  const t = useT();
  const { language } = useLanguage();
  const page = written?.page;
  return (
    <div className={classes.frame}>
      <div className={classes.side}>
        <DocsSearch />
        <DocsMenu section={section} />
      </div>
      <div className={classes.page}>
        {above.length > 0 && (
          <div className={classes.crumbs} data-written>
            <Breadcrumbs above={above} here={here} link={Link} />
          </div>
        )}
        {written && <Written of={written} />}
        {children}
        {page && (
          <>
            <nav className={classes.turns} aria-label={t('Previous and next page')} data-written>
              {page.previous && (
                <Link to={page.previous.path} rel="prev" className={classes.turn}>
                  <span>{t('Previous page')}</span>
                  {page.previous.title}
                </Link>
              )}
              {page.next && (
                <Link to={page.next.path} rel="next" className={classes.turn} data-next>
                  <span>{t('Next page')}</span>
                  {page.next.title}
                </Link>
              )}
            </nav>
            <a className={classes.source} href={`${page.path}.md?lang=${language}`}>
              <IconMarkdown size={16} aria-hidden="true" />
              {t('This page as Markdown')}
            </a>
          </>
        )}
      </div>
      <div className={classes.headings}>{page && <TableOfContents headings={page.headings} />}</div>
    </div>
  );
}
