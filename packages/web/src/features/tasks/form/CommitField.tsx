import { useDebouncedValue } from '@mantine/hooks';
import { api } from '@stagi/contract/api.ts';
import { CallError } from '@stagi/contract/errors.ts';
import { IconGitCommit } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { q } from '../../../api/query.ts';
import type { FieldProps } from '../../../api/useCallForm.ts';
import { useHasPermission } from '../../../api/user.ts';
import { useT } from '../../../i18n/i18n.ts';
import { lazyComponent } from '../../../lazyChunks.ts';
import { CutText } from '../../../ui/CutText.tsx';
import { TimeAgo } from '../../../ui/Time.tsx';
import { commitAt, isShortHash, shortHash } from './commitWord.ts';
import classes from './TaskForm.module.css';
import { TextWithPicker } from './TextWithPicker.tsx';

const TYPING_MS = 300;

/** Fetched when it is first opened. */
const CommitPicker = lazyComponent(async () => (await import('./CommitPicker.tsx')).CommitPicker);

interface Props {
  /** Null while there is nothing to choose from. */
  projectId: number | null;
  bound: FieldProps;
  /** A branch is then looked up at each time. */
  isScheduled: boolean;
}

/** A branch, tag or hash, typed or picked from the history, with the commit that it means now. */
export function CommitField({ projectId, bound, isScheduled }: Props) {
  const t = useT();
  const mayRead = useHasPermission('PROJECT', 'PROJECT_MANAGEMENT');
  const typed = String(bound.value ?? '').trim();
  const [word] = useDebouncedValue(typed, TYPING_MS);
  const canLookUp = (what: string) => mayRead && projectId !== null && what !== '' && !isShortHash(what);
  const known = useQuery({
    ...q(api.projectCode.commits, { id: projectId ?? 0, ...commitAt(word), path: '', limit: 1 }, { quiet: true }),
    enabled: canLookUp(word),
  });
  const isMissing = word === typed && known.error instanceof CallError && [400, 404].includes(known.error.status);
  const commit = word === typed ? known.data?.commits[0] : undefined;
  const isAwaited = canLookUp(typed) && (word !== typed || known.isPending);
  return (
    <TextWithPicker
      label={t('Commit')}
      description={hint()}
      placeholder="main"
      bound={bound}
      error={missing()}
      testId="task-commit"
      button={
        mayRead && projectId !== null
          ? { icon: <IconGitCommit size={16} />, text: t('Choose'), testId: 'task-commit-pick' }
          : null
      }
      picker={
        projectId === null
          ? null
          : (dialog) => <CommitPicker projectId={projectId} chosen={typed} isScheduled={isScheduled} {...dialog} />
      }
    >
      {isAwaited && (
        <div className={classes.commit} aria-busy="true">
          <span>…</span>
          <span>…</span>
        </div>
      )}
      {commit && (
        <div className={classes.commit} data-testid="task-commit-found">
          <CutText className={classes.commitTitle}>{commit.title || t('(no message)')}</CutText>
          <span>
            <span className="mono">{shortHash(commit.sha)}</span> · {commit.author.name} ·{' '}
            <TimeAgo at={commit.committer.at} />
          </span>
        </div>
      )}
    </TextWithPicker>
  );

  function hint(): string {
    return isScheduled
      ? t('A branch, tag or hash. A branch is looked up anew at each time')
      : t('A branch, tag or hash. A branch means its latest commit');
  }

  function missing(): string | undefined {
    return isMissing ? t('This commit does not exist') : undefined;
  }
}
