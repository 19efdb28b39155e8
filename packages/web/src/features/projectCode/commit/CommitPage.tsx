import { api } from '@stagi/contract/api.ts';
import { projectCan } from '@stagi/contract/projectRules.ts';
import { IconFolderCode, IconPlayerPlay } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearchParams } from 'react-router';
import { errorText } from '../../../api/messages.ts';
import { q } from '../../../api/query.ts';
import { useHasPermission } from '../../../api/user.ts';
import { useProject } from '../../../featureSlots.ts';
import { useT } from '../../../i18n/i18n.ts';
import { paths } from '../../../paths.ts';
import { ActionButton } from '../../../ui/actions.tsx';
import { Button } from '../../../ui/Button.tsx';
import { ErrorState } from '../../../ui/ErrorState.tsx';
import { DateTime } from '../../../ui/Time.tsx';
import { CommitHash } from '../CommitHash.tsx';
import { type CodeAddress, codePaths } from '../codeAddress.ts';
import { useCodeAddress } from '../codePlace.ts';
import { readAt } from '../codeReads.ts';
import { isAbsent, NothingHere } from '../NothingHere.tsx';
import classes from '../ProjectCode.module.css';
import { untilExpiry } from '../rawLink.ts';
import { TreeSkeleton } from '../tree/TreeSkeleton.tsx';
import page from './Commit.module.css';
import { CommitFiles } from './CommitFiles.tsx';
import type { CommitAnswer } from './commitAnswer.ts';

/** One commit: its message and what it changed. Without a hash the newest of the branch. */
export function CommitPage() {
  const { projectId, address } = useCodeAddress('commit');
  return address ? <Commit projectId={projectId} address={address} /> : <NothingHere projectId={projectId} />;
}

function Commit({ projectId, address }: { projectId: number; address: CodeAddress }) {
  const [search] = useSearchParams();
  const ignoreWhitespace = search.get('whitespace') === 'off';
  const input = { id: projectId, ...readAt(address), path: address.path, ignoreWhitespace };
  const { data, error, refetch, isFetching } = useQuery({
    ...q(api.projectCode.commit, input, { quiet: true }),
    refetchInterval: ({ state }) => untilExpiry(state.data?.raw),
    // With and without white space it is the same commit: the page stays while the other is read.
    placeholderData: (before, query) => (isSameCommit(query?.queryKey[1], input) ? before : undefined),
  });
  if (!data) {
    if (isAbsent(error)) return <NothingHere projectId={projectId} path={address.path} />;
    if (error) return <ErrorState message={errorText(error)} onRetry={() => void refetch()} retrying={isFetching} />;
    return <TreeSkeleton />;
  }
  return (
    <div className={classes.page} data-testid="code-commit">
      <Header projectId={projectId} branch={address.branch} answer={data} />
      <CommitFiles projectId={projectId} address={address} answer={data} ignoreWhitespace={ignoreWhitespace} />
    </div>
  );
}

interface Asked {
  id: number;
  sha?: string;
  branch?: string;
  path?: string;
}

const isSameCommit = (one: Asked | undefined, other: Asked): boolean =>
  one !== undefined &&
  one.id === other.id &&
  one.sha === other.sha &&
  one.branch === other.branch &&
  one.path === other.path;

interface HeaderProps {
  projectId: number;
  branch: string | null;
  answer: CommitAnswer;
}

function Header({ projectId, branch, answer }: HeaderProps) {
  const t = useT();
  const { sha, title, body, author, committer, parents } = answer.entity;
  const isByAnother = author.name !== committer.name || author.email !== committer.email;
  const at = branch ?? sha;
  return (
    <header className={`${classes.card} ${page.header}`}>
      <div className={page.top}>
        <h2 className={page.title}>{title === '' ? t('(no message)') : title}</h2>
        <div className={page.actions}>
          <RunAsTask sha={sha} />
          <Button
            component={Link}
            to={codePaths.tree(projectId, { branch: at, sha })}
            color="gray"
            icon={<IconFolderCode size={16} />}
            data-testid="browse-commit"
          >
            {t('Browse the files')}
          </Button>
        </div>
      </div>
      {body.trim() !== '' && <pre className={page.body}>{body.trim()}</pre>}
      <div className={page.facts}>
        <span>
          {t('Author')} <strong title={author.email}>{author.name}</strong> <DateTime at={author.at} />
        </span>
        {isByAnother && (
          <span>
            {t('Committer')} <strong title={committer.email}>{committer.name}</strong> <DateTime at={committer.at} />
          </span>
        )}
        <span className={page.hashes}>
          {t('Commit')} <CommitHash sha={sha} />
        </span>
        {parents.length > 0 && (
          <span className={page.hashes}>
            {parents.length === 1 ? t('Parent') : t('Parents')}
            {parents.map((parent) => (
              <CommitHash
                key={parent.sha}
                sha={parent.sha}
                to={codePaths.commit(projectId, { branch: at, sha: parent.sha })}
              />
            ))}
          </span>
        )}
      </div>
    </header>
  );
}

/** Opens the form of a task with this commit, for people who may run tasks. */
function RunAsTask({ sha }: { sha: string }) {
  const t = useT();
  const navigate = useNavigate();
  const project = useProject();
  if (!useHasPermission('RUNNING_TASKS')) return null;
  return (
    <ActionButton
      icon={<IconPlayerPlay size={16} />}
      verdict={projectCan.change(project)}
      onClick={() => void navigate(paths.newTask({ project: project.id, commit: sha }))}
      testId="run-commit"
    >
      {t('Run as a task')}
    </ActionButton>
  );
}
