import { IconX } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { CommitHash } from './CommitHash.tsx';
import { codePaths, crumbsOf } from './codeAddress.ts';
import classes from './ProjectCode.module.css';
import { RefPicker } from './refs/RefPicker.tsx';

interface Props {
  projectId: number;
  branch: string;
  refKind: 'branch' | 'tag' | null;
  /** The commit that the address names; null follows the branch. */
  sha: string | null;
  path: string;
  /** The name of the root. */
  root: string;
  /** The same page on another branch. */
  linkTo(branch: string): string;
  children?: ReactNode;
}

/** Where one is in the code: branch, commit and path; at the right what there is to do. */
export function CodeBar({ projectId, branch, refKind, sha, path, root, linkTo, children }: Props) {
  const t = useT();
  return (
    <div className={classes.bar}>
      <div className={classes.where}>
        <RefPicker projectId={projectId} branch={branch} kind={refKind} linkTo={linkTo} />
        {sha !== null && (
          <span className={classes.pinned}>
            {t('at')} <CommitHash sha={sha} to={codePaths.commit(projectId, { branch, sha })} />
            <Link to={linkTo(branch)} className={classes.unpin} aria-label={t('Show the newest instead')}>
              <IconX size={14} aria-hidden="true" />
            </Link>
          </span>
        )}
        <PathCrumbs {...{ projectId, branch, sha, path, root }} />
      </div>
      {children && <div className={classes.tools}>{children}</div>}
    </div>
  );
}

function PathCrumbs({ projectId, branch, sha, path, root }: Omit<Props, 'linkTo' | 'children' | 'refKind'>) {
  const t = useT();
  const crumbs = [{ name: root, path: '' }, ...crumbsOf(path)];
  return (
    <nav aria-label={t('Path')} className={classes.path} data-testid="code-path">
      <ol className="mono">
        {crumbs.map(({ name, path: to }) => (
          <li key={to} aria-current={to === path ? 'page' : undefined}>
            {to === path ? (
              <span title={name}>{name}</span>
            ) : (
              <Link to={codePaths.tree(projectId, { branch, sha, path: to })} title={name}>
                {name}
              </Link>
            )}
          </li>
        ))}
      </ol>
    </nav>
  );
}
