import { Link } from 'react-router';
import { useT } from '../i18n/i18n.ts';
import classes from './Objects.module.css';
import { crumbsOf } from './objectNames.ts';

interface Props {
  /** The name of the top. */
  top: string;
  folder: string;
  to(prefix: string): string;
}

/** The way from the top to the folder. */
export function FolderCrumbs({ top, folder, to }: Props) {
  const t = useT();
  const crumbs = [{ name: top, prefix: '' }, ...crumbsOf(folder)];
  return (
    <nav aria-label={t('Folder')}>
      <ol className={`${classes.crumbs} mono`}>
        {crumbs.map(({ name, prefix }) => (
          <li key={prefix} translate="no" aria-current={prefix === folder ? 'page' : undefined} title={name}>
            {prefix === folder ? shown(name) : <Link to={to(prefix)}>{shown(name)}</Link>}
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
