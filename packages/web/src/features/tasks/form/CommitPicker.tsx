import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import type { CommitLine } from '@stagi/contract/projectCode.ts';
import { IconGitBranch, IconGitCommit, IconTag } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../../api/client.ts';
import { errorText } from '../../../api/messages.ts';
import { useT } from '../../../i18n/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { CutText } from '../../../ui/CutText.tsx';
import { Dialog } from '../../../ui/dialogs/Dialog.tsx';
import { ErrorState } from '../../../ui/ErrorState.tsx';
import { SearchBox } from '../../../ui/SearchBox.tsx';
import { PanelSkeleton } from '../../../ui/Skeletons.tsx';
import { TimeAgo } from '../../../ui/Time.tsx';
import { shortHash } from './commitWord.ts';
import classes from './Picker.module.css';
import { RefSelect } from './RefSelect.tsx';

interface Props {
  projectId: number;
  opened: boolean;
  onClose(): void;
  /** What the field holds now. */
  chosen: string;
  isScheduled: boolean;
  /** With a hash, or the name of a branch or tag. */
  onChoose(word: string): void;
}

/** The history of a branch or tag, to choose a commit from. */
export function CommitPicker({ opened, onClose, ...history }: Props) {
  const t = useT();
  return (
    <Dialog opened={opened} onClose={onClose} title={t('Choose a commit')} size="m" testId="commit-picker">
      <History {...history} />
    </Dialog>
  );
}

type HistoryProps = Omit<Props, 'opened' | 'onClose'>;

function History({ projectId, chosen, isScheduled, onChoose }: HistoryProps) {
  const t = useT();
  /** Null: the default branch. */
  const [ref, setRef] = useState<{ name: string; kind: 'branch' | 'tag' } | null>(null);
  const [search, setSearch] = useState('');
  const input = { id: projectId, ...(ref && { branch: ref.name }), path: '' };
  const { data, error, refetch, isFetching, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: [api.projectCode.commits.path, input],
    queryFn: ({ pageParam, signal }) =>
      call(api.projectCode.commits, { ...input, ...(pageParam && { cursor: pageParam }) }, { quiet: true, signal }),
    initialPageParam: undefined as string | undefined,
    meta: { quiet: true },
    getNextPageParam: ({ next }) => next ?? undefined,
  });
  const [first] = data?.pages ?? [];
  const name = ref?.name ?? first?.branch ?? first?.defaultBranch ?? '';
  const kind = ref?.kind ?? 'branch';
  const commits = data?.pages.flatMap((page) => page.commits) ?? [];
  const matching = commits.filter((commit) => matches(commit, search));
  return (
    <Stack gap={12}>
      <RefSelect projectId={projectId} name={name} kind={kind} onChange={setRef} />
      <SearchBox
        value={search}
        onChange={setSearch}
        width="100%"
        placeholder={t('Search the commits below by message, author or hash')}
      />
      {list()}
      <div className={classes.foot}>
        <span role="status">{first && t('{{count}} shown', { count: matching.length })}</span>
        {hasNextPage && (
          <Button color="gray" size="xs" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            {t('Load more')}
          </Button>
        )}
      </div>
    </Stack>
  );

  function list() {
    if (!first)
      return error ? (
        <ErrorState message={errorText(error)} onRetry={() => void refetch()} retrying={isFetching} />
      ) : (
        <PanelSkeleton rows={6} />
      );
    const Icon = kind === 'tag' ? IconTag : IconGitBranch;
    return (
      <ul className={classes.rows}>
        {search === '' && (
          <li>
            <button
              type="button"
              className={classes.row}
              aria-pressed={chosen === name}
              onClick={() => onChoose(name)}
              data-testid="commit-choice-ref"
            >
              <Icon size={16} aria-hidden="true" />
              <span className={classes.what}>
                <CutText className="mono">{name}</CutText>
                <span className={classes.who}>{refWords()}</span>
              </span>
            </button>
          </li>
        )}
        {matching.map((commit) => (
          <li key={commit.sha}>
            <Row commit={commit} pressed={chosen === commit.sha} onChoose={onChoose} />
          </li>
        ))}
        {matching.length === 0 && (
          <li className={classes.row}>{commits.length === 0 ? t('There are no commits here yet') : t('No matches')}</li>
        )}
      </ul>
    );
  }

  function refWords(): string {
    if (kind === 'tag') return t('The commit of this tag');
    return isScheduled
      ? t('The latest commit of this branch at each time')
      : t('The latest commit of this branch when the task is created');
  }
}

function Row({ commit, pressed, onChoose }: { commit: CommitLine; pressed: boolean; onChoose(sha: string): void }) {
  const t = useT();
  return (
    <button
      type="button"
      className={classes.row}
      aria-pressed={pressed}
      onClick={() => onChoose(commit.sha)}
      data-testid="commit-choice"
    >
      <IconGitCommit size={16} aria-hidden="true" />
      <span className={classes.what}>
        <CutText>{commit.title || t('(no message)')}</CutText>
        <span className={classes.who}>
          <span>{commit.author.name}</span>
          <TimeAgo at={commit.committer.at} />
        </span>
      </span>
      <span className={`mono ${classes.hash}`}>{shortHash(commit.sha)}</span>
    </button>
  );
}

/** Whether a commit has the text in its message, its author or at the beginning of its hash. */
function matches({ title, author, sha }: CommitLine, search: string): boolean {
  const wanted = search.toLowerCase();
  return (
    [title, author.name, author.email].some((word) => word.toLowerCase().includes(wanted)) || sha.startsWith(wanted)
  );
}
