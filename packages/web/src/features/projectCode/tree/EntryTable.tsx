import type { EntryType, TreeEntry } from '@stagi/contract/projectCode.ts';
import {
  IconArrowForward,
  IconCornerLeftUp,
  IconFile,
  IconFolderFilled,
  IconGitMerge,
  type TablerIcon,
} from '@tabler/icons-react';

import { Link } from 'react-router';
import { useT } from '../../../i18n/i18n.ts';
import { TimeAgo } from '../../../ui/Time.tsx';
import { codePaths, folderOf } from '../codeAddress.ts';
import classes from './Tree.module.css';

interface Props {
  projectId: number;
  branch: string;
  sha: string | null;
  path: string;
  entries: readonly TreeEntry[];
}

const ICONS: Record<EntryType, TablerIcon> = {
  tree: IconFolderFilled,
  blob: IconFile,
  symlink: IconArrowForward,
  submodule: IconGitMerge,
};

/** The entries of a folder, folders first. */
export function EntryTable({ projectId, branch, sha, path, entries }: Props) {
  const t = useT();
  const words: Record<EntryType, string> = {
    tree: t('Folder'),
    blob: t('File'),
    symlink: t('Symbolic link'),
    submodule: t('Submodule'),
  };
  return (
    <table className={classes.entries}>
      <thead className="visually-hidden">
        <tr>
          <th scope="col">{t('Name')}</th>
          <th scope="col">{t('Last commit')}</th>
          <th scope="col">{t('Time')}</th>
        </tr>
      </thead>
      <tbody>
        {path !== '' && (
          <tr>
            <td className={classes.name}>
              <Link to={codePaths.tree(projectId, { branch, sha, path: folderOf(path) })}>
                <IconCornerLeftUp size={16} className={classes.icon} aria-hidden="true" />
                <span className={classes.word}>{t('To the folder above')}</span>
              </Link>
            </td>
            <td className={classes.commit} />
            <td className={classes.time} />
          </tr>
        )}
        {entries.map((entry) => (
          <tr key={entry.name} data-testid="tree-entry" data-type={entry.type}>
            <td className={classes.name}>
              <Link to={linkOf(entry)} title={entry.name}>
                <EntryIcon type={entry.type} word={words[entry.type]} />
                <span className={classes.word}>{entry.name}</span>
              </Link>
            </td>
            <td className={classes.commit}>
              {entry.lastCommit && (
                <Link
                  to={codePaths.commit(projectId, { branch, sha: entry.lastCommit.sha })}
                  title={entry.lastCommit.title}
                >
                  {entry.lastCommit.title}
                </Link>
              )}
            </td>
            <td className={classes.time}>{entry.lastCommit && <TimeAgo at={entry.lastCommit.committer.at} />}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );

  function linkOf({ type, path: to, sha: object }: TreeEntry): string {
    if (type === 'tree') return codePaths.tree(projectId, { branch, sha, blobSha: sha && object, path: to });
    return codePaths.blob(projectId, { branch, sha, path: to, blobSha: object });
  }
}

function EntryIcon({ type, word }: { type: EntryType; word: string }) {
  const Icon = ICONS[type];
  return (
    <>
      <Icon size={16} className={classes.icon} aria-hidden="true" />
      <span className="visually-hidden">{word}: </span>
    </>
  );
}
