import type { ContentPage } from '@stagi/contract/content.ts';
import { useId } from 'react';
import { useT } from '../../i18n/i18n.ts';
import classes from './TableOfContents.module.css';

/** The headings of a page. */
export function TableOfContents({ headings }: Pick<ContentPage, 'headings'>) {
  const t = useT();
  const id = useId();
  if (headings.length < 2) return null;
  return (
    <nav className={classes.contents} aria-labelledby={id}>
      <h2 className={classes.title} id={id}>
        {t('On this page')}
      </h2>
      <ul data-written>
        {headings.map((heading) => (
          <li key={heading.id} data-level={heading.level}>
            <a href={`#${heading.id}`}>{heading.text}</a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
