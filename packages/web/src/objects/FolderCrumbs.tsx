import type { ReactNode } from 'react';
import { useT } from '../i18n/i18n.ts';
import classes from './Objects.module.css';
import { crumbsOf } from './objectNames.ts';

interface Props {
  /** The name of the top. */
  top: string;
  folder: string;
  /** What leads to a folder above. */
  link(prefix: string, name: string): ReactNode;
}

/** The way from the top to the folder. */
export function FolderCrumbs({ top, folder, link }: Props) {
  const t = useT();
  const crumbs = [{ name: top, prefix: '' }, ...crumbsOf(folder)];
  return (
    <nav aria-label={t('Folder')}>
      <ol className={`${classes.crumbs} mono`}>
        {crumbs.map(({ name, prefix }) => (
          <li key={prefix} translate="no" aria-current={prefix === folder ? 'page' : undefined} title={name}>
            {prefix === folder ? shown(name) : link(prefix, shown(name))}
          </li>
        ))}
      </ol>
    </nav>
  );

  /** Between two slashes there is a folder without a name. */
  function shown(name: string): string {
    return name === '' ? t('(no name)') : name;
  }
}
