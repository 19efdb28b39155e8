import { api } from '@stagi/contract/api.ts';
import { useQuery } from '@tanstack/react-query';
import { useSearchParams } from 'react-router';
import { errorText } from '../../../api/messages.ts';
import { q } from '../../../api/query.ts';
import { useProject } from '../../../featureSlots.ts';
import { useT } from '../../../i18n/i18n.ts';
import { ErrorState } from '../../../ui/ErrorState.tsx';
import { Note } from '../../../ui/Note.tsx';
import { CodeBar } from '../CodeBar.tsx';
import { type CodeAddress, codePaths } from '../codeAddress.ts';
import { useCodeAddress } from '../codePlace.ts';
import { readAt } from '../codeReads.ts';
import { LatestCommit } from '../LatestCommit.tsx';
import { isAbsent, NothingHere } from '../NothingHere.tsx';
import classes from '../ProjectCode.module.css';
import { untilExpiry } from '../rawLink.ts';
import { TreeSkeleton } from '../tree/TreeSkeleton.tsx';
import { BlobBody } from './BlobBody.tsx';
import { BlobTools } from './BlobTools.tsx';
import type { Blob } from './blob.ts';
import { viewsOf } from './fileViews.ts';

/** One file: its text with line numbers, or what it is instead. */
export function BlobPage() {
  const { projectId, address } = useCodeAddress('blob');
  return address ? <File projectId={projectId} address={address} /> : <NothingHere projectId={projectId} />;
}

function File({ projectId, address }: { projectId: number; address: CodeAddress }) {
  const { path } = address;
  const { data, error, refetch, isFetching } = useQuery({
    ...q(api.projectCode.blob, { id: projectId, ...readAt(address), path }, { quiet: true }),
    refetchInterval: ({ state }) => untilExpiry(state.data?.raw),
  });
  if (data) return <Loaded projectId={projectId} address={address} blob={data} isStale={error !== null} />;
  if (isAbsent(error)) return <NothingHere projectId={projectId} path={path} />;
  if (error) return <ErrorState message={errorText(error)} onRetry={() => void refetch()} retrying={isFetching} />;
  return <TreeSkeleton />;
}

interface LoadedProps {
  projectId: number;
  address: CodeAddress;
  blob: Blob;
  /** The file could not be read again: a push may have taken it away. */
  isStale: boolean;
}

function Loaded({ projectId, address, blob, isStale }: LoadedProps) {
  const t = useT();
  const project = useProject();
  const [search] = useSearchParams();
  const branch = address.branch ?? blob.branch ?? blob.defaultBranch;
  const { path, sha } = address;
  const views = viewsOf(path, blob.imageType);
  const view = views.find((one) => one === search.get('view')) ?? views[0] ?? 'source';
  const place = { projectId, branch, sha, blob };
  return (
    <div className={classes.page} data-testid="code-blob">
      <CodeBar
        projectId={projectId}
        branch={branch}
        refKind={blob.refKind}
        sha={sha}
        path={path}
        root={project.slug}
        linkTo={(name) => codePaths.tree(projectId, { branch: name, path })}
      />
      {isStale && (
        <Note tone="warn">{t('This file could not be read again. It may be gone from {{branch}}.', { branch })}</Note>
      )}
      {!isStale && blob.sha !== address.blobSha && (
        <Note>{t('This file has changed since its address was made. Here is what it is now.')}</Note>
      )}
      <div className={classes.card}>
        {blob.lastCommit && <LatestCommit projectId={projectId} branch={branch} commit={blob.lastCommit} />}
        <BlobTools {...place} views={views} view={view} />
        <BlobBody {...place} view={view} />
      </div>
    </div>
  );
}
