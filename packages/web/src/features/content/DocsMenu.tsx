import type { ContentEntry, ContentSection } from '@stagi/contract/content.ts';
import { FURTHER_MENU, MENU } from '@stagi/contract/menu.ts';
import { ROUTES } from '@stagi/contract/routes.ts';
import { IconChevronDown } from '@tabler/icons-react';
import { useState } from 'react';
import { Link, useLocation } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { MenuLink } from '../../navigation/MenuLink.tsx';
import classes from './DocsMenu.module.css';
import { useWrittenList } from './useWritten.ts';

/** The pages of a section by their folders. The folder on screen is open; on a phone the menu itself opens on demand. */
export function DocsMenu({ section }: { section: ContentSection }) {
  const t = useT();
  const { pathname } = useLocation();
  const { entries = [] } = useWrittenList(section);
  const [openedAt, setOpenedAt] = useState<string | null>(null);
  const opened = openedAt === pathname;
  const here = pathname.replace(/\/$/, '');
  const other = section === 'docs' ? ROUTES.tutorials.path : ROUTES.docs.path;
  const others = [...MENU, ...FURTHER_MENU].filter(({ route }) => route === other);
  return (
    <nav className={classes.menu} aria-label={t('All pages')} data-opened={opened || undefined}>
      <button
        type="button"
        className={classes.opener}
        aria-expanded={opened}
        onClick={() => setOpenedAt(opened ? null : pathname)}
      >
        {t('All pages')}
        <IconChevronDown size={16} aria-hidden="true" />
      </button>
      <div className={classes.pages} data-written>
        {groupsOf(entries).map(({ head, pages }) => (
          <Folder key={head.path} head={head} pages={pages} here={here} />
        ))}
      </div>
      <p className={classes.other}>
        {others.map((item) => (
          <MenuLink key={item.testId} item={item} />
        ))}
      </p>
    </nav>
  );
}

interface Group {
  head: ContentEntry;
  pages: ContentEntry[];
}

function Folder({ head, pages, here }: Group & { here: string }) {
  const isOpen = here === head.path || pages.some(({ path }) => path === here);
  return (
    <div className={classes.folder}>
      <Link to={head.path} className={classes.head} aria-current={here === head.path ? 'page' : undefined}>
        {head.title}
      </Link>
      {isOpen && pages.length > 0 && (
        <ul>
          {pages.map(({ path, title }) => (
            <li key={path}>
              <Link to={path} aria-current={here === path ? 'page' : undefined}>
                {title}
              </Link>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** A folder begins with the page that has its address; pages without a folder stand alone. */
function groupsOf(entries: readonly ContentEntry[]): Group[] {
  const groups: Group[] = [];
  for (const entry of entries) {
    const last = groups.at(-1);
    if (entry.group !== null && last?.head.group === entry.group) last.pages.push(entry);
    else groups.push({ head: entry, pages: [] });
  }
  return groups;
}
