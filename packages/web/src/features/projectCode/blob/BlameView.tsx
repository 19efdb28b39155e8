import { Skeleton } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import type { BlameRange } from '@stagi/contract/projectCode.ts';
import { useQuery } from '@tanstack/react-query';
import { type ComponentProps, useMemo } from 'react';
import { Link } from 'react-router';
import { errorText } from '../../../api/messages.ts';
import { q } from '../../../api/query.ts';
import { useT } from '../../../i18n/i18n.ts';
import { ErrorState } from '../../../ui/ErrorState.tsx';
import { TimeAgo } from '../../../ui/Time.tsx';
import { shortHash } from '../CommitHash.tsx';
import { codePaths } from '../codeAddress.ts';
import { readAt } from '../codeReads.ts';
import classes from './Code.module.css';
import { CodeView } from './CodeView.tsx';

interface Props extends Omit<ComponentProps<typeof CodeView>, 'blame'> {
  projectId: number;
  branch: string;
  sha: string | null;
  path: string;
}

/** The text with the commit that last changed each of its lines. */
export function BlameView({ projectId, branch, sha, path, ...code }: Props) {
  const t = useT();
  const input = { id: projectId, ...readAt({ branch, sha }), path };
  const { data, error, refetch, isFetching } = useQuery(q(api.projectCode.blame, input, { quiet: true }));
  const blame = useMemo(() => {
    if (!data) return undefined;
    const commits = new Map(data.commits.map((commit) => [commit.sha, commit]));
    return {
      ranges: data.ranges,
      commits,
      cell(range: BlameRange) {
        const commit = commits.get(range.sha);
        return (
          <div className={classes.rangeCell} data-testid="blame-range">
            <Link
              to={codePaths.commit(projectId, { branch, sha: range.sha })}
              className={classes.rangeTitle}
              title={commit && `${commit.title} · ${commit.author.name}`}
            >
              {commit?.title ?? shortHash(range.sha)}
            </Link>
            <Link to={codePaths.commit(projectId, { branch, sha: range.sha })} className="mono" tabIndex={-1}>
              {shortHash(range.sha)}
            </Link>
            {commit && <TimeAgo at={commit.committer.at} />}
          </div>
        );
      },
    };
  }, [data, projectId, branch]);
  if (error && !data)
    return (
      <ErrorState
        title={t('Who changed these lines could not be found out')}
        message={errorText(error)}
        onRetry={() => void refetch()}
        retrying={isFetching}
      />
    );
  if (!data) return <Skeleton height={360} m={16} />;
  return <CodeView {...code} blame={blame} />;
}
