import { useState } from 'react';
import { useNavigate, useSearchParams } from 'react-router';
import { useT } from '../../../i18n/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { Checkbox } from '../../../ui/form/Checkbox.tsx';
import { Note } from '../../../ui/Note.tsx';
import { Tag } from '../../../ui/Tag.tsx';
import { type CodeAddress, codePaths } from '../codeAddress.ts';
import { useQueryLink } from '../codePlace.ts';
import { FileDiff } from '../diff/FileDiff.tsx';
import { startsOpen } from '../diff/startsOpen.ts';
import { ViewSwitch } from '../ViewSwitch.tsx';
import page from './Commit.module.css';
import type { CommitAnswer } from './commitAnswer.ts';

interface Props {
  projectId: number;
  address: CodeAddress;
  answer: CommitAnswer;
  ignoreWhitespace: boolean;
}

/** The files that a commit changed, each with its diff. */
export function CommitFiles({ projectId, address, answer, ignoreWhitespace }: Props) {
  const t = useT();
  const navigate = useNavigate();
  const queryLink = useQueryLink();
  const [search] = useSearchParams();
  const isSplit = search.get('diff') === 'split';
  // What was opened or closed by hand; the others as they start.
  const [toggled, setToggled] = useState<ReadonlyMap<string, boolean>>(new Map());
  const { files, totals, isMore, entity } = answer;
  const opened = startsOpen(files);
  const isOpen = (path: string): boolean => toggled.get(path) ?? opened.has(path);
  const areAllOpen = files.every(({ path }) => isOpen(path));
  const branch = address.branch ?? entity.sha;
  return (
    <>
      <div className={page.bar}>
        <span className={page.totals} data-testid="commit-totals">
          {t('{{count}} files changed', { count: totals.files })}
          <span className={page.added}>+{totals.additions}</span>
          <span className={page.removed}>−{totals.deletions}</span>
        </span>
        {address.path !== '' && (
          <Tag
            onRemove={() => void navigate(codePaths.commit(projectId, { branch, sha: entity.sha }))}
            removeLabel={t('Show all files')}
          >
            {t('Only {{path}}', { path: address.path })}
          </Tag>
        )}
        <div className={page.tools}>
          <Checkbox
            label={t('Hide white space')}
            checked={ignoreWhitespace}
            onChange={({ currentTarget }) =>
              void navigate(queryLink({ whitespace: currentTarget.checked ? 'off' : null }), {
                replace: true,
                preventScrollReset: true,
              })
            }
            data-testid="hide-whitespace"
          />
          <ViewSwitch
            label={t('Kind of diff')}
            chosen={isSplit ? 'split' : 'unified'}
            views={[
              { key: 'unified', label: t('Unified'), to: queryLink({ diff: null }) },
              { key: 'split', label: t('Split'), to: queryLink({ diff: 'split' }) },
            ]}
          />
          {files.length > 1 && (
            <Button
              size="xs"
              color="gray"
              onClick={() => setToggled(new Map(files.map(({ path }) => [path, !areAllOpen])))}
              data-testid="toggle-all"
            >
              {areAllOpen ? t('Close all') : t('Open all')}
            </Button>
          )}
        </div>
      </div>
      {entity.parents.length > 1 && <Note>{t('A merge: this is what changed against its first parent.')}</Note>}
      {isMore && (
        <div data-testid="commit-cut">
          <Note tone="warn">
            {t('This commit changes too many files to show: these are the first {{count}}.', { count: files.length })}
          </Note>
        </div>
      )}
      {files.length === 0 && (
        <p className="muted">{ignoreWhitespace ? t('It changes only white space.') : t('It changes no file.')}</p>
      )}
      {files.map((file) => (
        <FileDiff
          key={`${file.oldPath ?? ''} ${file.path}`}
          projectId={projectId}
          branch={branch}
          sha={entity.sha}
          file={file}
          raw={answer.raw}
          parentRaw={answer.parentRaw}
          isSplit={isSplit}
          isOpen={isOpen(file.path)}
          onToggle={() => setToggled(new Map([...toggled, [file.path, !isOpen(file.path)]]))}
        />
      ))}
    </>
  );
}
