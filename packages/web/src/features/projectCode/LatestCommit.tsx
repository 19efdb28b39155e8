import type { CommitLine } from '@stagi/contract/projectCode.ts';
import { Link } from 'react-router';
import { TimeAgo } from '../../ui/Time.tsx';
import { CommitHash } from './CommitHash.tsx';
import { codePaths } from './codeAddress.ts';
import classes from './ProjectCode.module.css';

interface Props {
  projectId: number;
  branch: string;
  commit: CommitLine;
}

/** Who changed this last, and how. */
export function LatestCommit({ projectId, branch, commit }: Props) {
  const to = codePaths.commit(projectId, { branch, sha: commit.sha });
  return (
    <div className={classes.latest} data-testid="latest-commit">
      <span className={classes.author} title={`${commit.author.name} <${commit.author.email}>`}>
        {commit.author.name}
      </span>
      <Link to={to} className={classes.title} title={commit.title}>
        {commit.title}
      </Link>
      <span className={classes.meta}>
        <CommitHash sha={commit.sha} to={to} />
        <TimeAgo at={commit.committer.at} />
      </span>
    </div>
  );
}
