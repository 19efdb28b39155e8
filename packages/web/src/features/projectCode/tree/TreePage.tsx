import { api } from '@stagi/contract/api.ts';
import type { OutputOf } from '@stagi/contract/call.ts';
import { IconHistory } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, Navigate, useLocation, useNavigate, useSearchParams } from 'react-router';
import { errorText } from '../../../api/messages.ts';
import { q } from '../../../api/query.ts';
import { useProject } from '../../../featureSlots.ts';
import { useT } from '../../../i18n/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { EmptyState } from '../../../ui/EmptyState.tsx';
import { ErrorState } from '../../../ui/ErrorState.tsx';
import { Note } from '../../../ui/Note.tsx';
import { SearchBox } from '../../../ui/SearchBox.tsx';
import { CodeBar } from '../CodeBar.tsx';
import { type CodeAddress, codePaths, isHash } from '../codeAddress.ts';
import { useCodeAddress, useQueryLink } from '../codePlace.ts';
import { readAt } from '../codeReads.ts';
import { LatestCommit } from '../LatestCommit.tsx';
import { isAbsent, NothingHere } from '../NothingHere.tsx';
import classes from '../ProjectCode.module.css';
import { untilExpiry } from '../rawLink.ts';
import { SearchResults } from '../search/SearchResults.tsx';
import { EntryTable } from './EntryTable.tsx';
import { Readme } from './Readme.tsx';
import { TreeSkeleton } from './TreeSkeleton.tsx';

type Tree = OutputOf<typeof api.projectCode.tree>;

/** A folder of the code: its entries with their last commits, and its README. */
export function TreePage() {
  const { projectId, address } = useCodeAddress('tree');
  return address ? <Folder projectId={projectId} address={address} /> : <NothingHere projectId={projectId} />;
}

function Folder({ projectId, address }: { projectId: number; address: CodeAddress }) {
  const { path } = address;
  const input = { id: projectId, ...readAt(address), path };
  const { data, error, refetch, isFetching } = useQuery({
    ...q(api.projectCode.tree, input, { quiet: true }),
    refetchInterval: ({ state }) => untilExpiry(state.data?.raw),
  });
  if (data) return <Loaded projectId={projectId} address={address} tree={data} isGone={isAbsent(error)} />;
  // A path may be one of a file: that is looked for before the page says that there is none.
  if (path !== '' && isAbsent(error)) return <FileAt projectId={projectId} address={address} />;
  if (isAbsent(error)) return <NothingHere projectId={projectId} />;
  if (error) return <ErrorState message={errorText(error)} onRetry={() => void refetch()} retrying={isFetching} />;
  return <TreeSkeleton />;
}

/** Links of texts name paths of folders and files alike. */
function FileAt({ projectId, address }: { projectId: number; address: CodeAddress }) {
  const { hash } = useLocation();
  const { path, sha } = address;
  const { data, error, refetch } = useQuery(
    q(api.projectCode.blob, { id: projectId, ...readAt(address), path }, { quiet: true }),
  );
  if (data) {
    const branch = address.branch ?? data.branch ?? data.defaultBranch;
    return <Navigate to={codePaths.blob(projectId, { branch, sha, path, blobSha: data.sha }) + hash} replace />;
  }
  if (isAbsent(error)) return <NothingHere projectId={projectId} path={path} />;
  if (error) return <ErrorState message={errorText(error)} onRetry={() => void refetch()} />;
  return <TreeSkeleton />;
}

interface LoadedProps {
  projectId: number;
  address: CodeAddress;
  tree: Tree;
  /** It was there when the page was opened, and a push took it away. */
  isGone: boolean;
}

function Loaded({ projectId, address, tree, isGone }: LoadedProps) {
  const t = useT();
  const project = useProject();
  const navigate = useNavigate();
  const [search] = useSearchParams();
  const queryLink = useQueryLink();
  const branch = address.branch ?? tree.branch ?? tree.defaultBranch;
  const { sha, path } = address;
  const query = search.get('search') ?? '';
  const commit = tree.lastCommit ?? tree.commit;
  return (
    <div className={classes.page} data-testid="code-tree">
      <CodeBar
        projectId={projectId}
        branch={branch}
        refKind={tree.refKind}
        sha={sha}
        path={path}
        root={project.slug}
        linkTo={(name) => codePaths.tree(projectId, { branch: name, path })}
      >
        <SearchBox
          value={query}
          onChange={(next) => void navigate(queryLink({ search: next === '' ? null : next }), { replace: true })}
          placeholder={t('Search the code')}
          width={220}
        />
        <Button
          component={Link}
          to={codePaths.commits(projectId, { branch, path, sha })}
          color="gray"
          icon={<IconHistory size={16} />}
          data-testid="history-link"
        >
          {t('History')}
        </Button>
      </CodeBar>
      {isGone && <Note tone="warn">{t('This folder does not exist any more on {{branch}}.', { branch })}</Note>}
      {query === '' ? body() : <SearchResults {...{ projectId, branch, sha, path, query }} />}
    </div>
  );

  function body() {
    if (tree.commit === null)
      return (
        <EmptyState title={t('Nothing has been pushed to {{branch}} yet', { branch })}>
          {t('Choose another branch above.')}
        </EmptyState>
      );
    return (
      <>
        <div className={classes.card}>
          {commit && <LatestCommit projectId={projectId} branch={branch} commit={commit} />}
          <EntryTable
            projectId={projectId}
            branch={branch}
            sha={sha ?? (isHash(branch) ? branch : null)}
            path={path}
            entries={tree.entries}
          />
          {tree.isMore && <p className={classes.foot}>{t('Only the first entries are shown: there are more.')}</p>}
        </div>
        {tree.readme && <Readme projectId={projectId} address={{ ...address, branch }} readme={tree.readme} />}
      </>
    );
  }
}
