import { api } from '@stagi/contract/api.ts';
import type { CommitLine } from '@stagi/contract/projectCode.ts';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearchParams } from 'react-router';
import { call } from '../../../api/client.ts';
import { errorText } from '../../../api/messages.ts';
import { useProject } from '../../../featureSlots.ts';
import { useT } from '../../../i18n/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { EmptyState } from '../../../ui/EmptyState.tsx';
import { ErrorState } from '../../../ui/ErrorState.tsx';
import { formatDate } from '../../../ui/format.ts';
import { Tag } from '../../../ui/Tag.tsx';
import { TimeAgo } from '../../../ui/Time.tsx';
import { CodeBar } from '../CodeBar.tsx';
import { CommitHash } from '../CommitHash.tsx';
import { type CodeAddress, codePaths, isHash } from '../codeAddress.ts';
import { useCodeAddress, useQueryLink } from '../codePlace.ts';
import { readAt } from '../codeReads.ts';
import { isAbsent, NothingHere } from '../NothingHere.tsx';
import classes from '../ProjectCode.module.css';
import { TreeSkeleton } from '../tree/TreeSkeleton.tsx';
import list from './Commits.module.css';

/** The history of a branch; `?path=` of one file or folder, `?sha=` from one commit on. */
export function CommitsPage() {
  const { projectId, address } = useCodeAddress('commits');
  const [search] = useSearchParams();
  const sha = search.get('sha') ?? '';
  if (!address) return <NothingHere projectId={projectId} />;
  const whole = { ...address, path: search.get('path') ?? '', sha: isHash(sha) ? sha : null };
  return <History projectId={projectId} address={whole} />;
}

function History({ projectId, address }: { projectId: number; address: CodeAddress }) {
  const t = useT();
  const project = useProject();
  const navigate = useNavigate();
  const queryLink = useQueryLink();
  const { path, sha } = address;
  const input = { id: projectId, ...readAt(address), path };
  const { data, error, refetch, isFetching, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: [api.projectCode.commits.path, input],
    queryFn: ({ pageParam, signal }) =>
      call(api.projectCode.commits, { ...input, ...(pageParam && { cursor: pageParam }) }, { quiet: true, signal }),
    initialPageParam: undefined as string | undefined,
    meta: { quiet: true },
    getNextPageParam: ({ next }) => next ?? undefined,
  });
  const [first] = data?.pages ?? [];
  if (!first) {
    if (isAbsent(error)) return <NothingHere projectId={projectId} path={path} />;
    if (error) return <ErrorState message={errorText(error)} onRetry={() => void refetch()} retrying={isFetching} />;
    return <TreeSkeleton />;
  }
  const branch = address.branch ?? first.branch ?? first.defaultBranch;
  const commits = data?.pages.flatMap((page) => page.commits) ?? [];
  return (
    <div className={classes.page} data-testid="code-commits">
      <CodeBar
        projectId={projectId}
        branch={branch}
        refKind={first.refKind}
        sha={sha}
        path={path}
        root={project.slug}
        linkTo={(name) => codePaths.commits(projectId, { branch: name, path })}
      />
      {path !== '' && (
        <div className={list.filter}>
          <Tag onRemove={() => void navigate(queryLink({ path: null }))} removeLabel={t('Show the whole history')}>
            {t('Only what changed {{path}}', { path })}
          </Tag>
        </div>
      )}
      {commits.length === 0 ? (
        <EmptyState title={t('There are no commits here yet')} />
      ) : (
        byDay(commits).map(({ day, commits: ofDay }) => (
          <section key={day} className={list.day} aria-label={day}>
            <h2 className={list.date}>{day}</h2>
            <ul className={classes.card}>
              {ofDay.map((commit) => (
                <CommitRow key={commit.sha} projectId={projectId} branch={branch} path={path} commit={commit} />
              ))}
            </ul>
          </section>
        ))
      )}
      <div className={list.more}>
        <span role="status" className="muted">
          {t('{{count}} shown', { count: commits.length })}
        </span>
        {hasNextPage && (
          <Button
            color="gray"
            size="xs"
            loading={isFetchingNextPage}
            onClick={() => void fetchNextPage()}
            data-testid="load-more"
          >
            {t('Load more')}
          </Button>
        )}
      </div>
    </div>
  );
}

interface RowProps {
  projectId: number;
  branch: string;
  path: string;
  commit: CommitLine & { parents: readonly string[] };
}

function CommitRow({ projectId, branch, path, commit }: RowProps) {
  const t = useT();
  const { sha, title, author, committer, parents } = commit;
  const to = codePaths.commit(projectId, { branch, sha });
  return (
    <li className={list.row} data-testid="commit-row">
      <div className={list.what}>
        <Link to={to} className={list.title} title={title}>
          {title === '' ? t('(no message)') : title}
        </Link>
        <span className={list.who}>
          <span title={author.email}>{author.name}</span>
          <TimeAgo at={committer.at} />
          {parents.length > 1 && <Tag>{t('merge')}</Tag>}
        </span>
      </div>
      <span className={list.links}>
        <CommitHash sha={sha} to={to} />
        <Link to={codePaths.tree(projectId, { branch, sha, path })} className={list.browse}>
          {t('Browse')}
        </Link>
      </span>
    </li>
  );
}

/** Commits that follow each other on the same day of the reader. */
function byDay<C extends CommitLine>(commits: readonly C[]): { day: string; commits: C[] }[] {
  const days: { day: string; commits: C[] }[] = [];
  for (const commit of commits) {
    const day = formatDate(commit.committer.at, 'MMMM D, YYYY', document.documentElement.lang);
    const last = days.at(-1);
    if (last?.day === day) last.commits.push(commit);
    else days.push({ day, commits: [commit] });
  }
  return days;
}
