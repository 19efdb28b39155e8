import type { ChangedFile, RawFiles } from '@stagi/contract/projectCode.ts';
import { IconChevronDown, IconChevronRight } from '@tabler/icons-react';
import { useId } from 'react';
import { Link } from 'react-router';
import { useT } from '../../../i18n/i18n.ts';
import { CopyButton } from '../../../ui/CopyButton.tsx';
import { Tag } from '../../../ui/Tag.tsx';
import { codePaths } from '../codeAddress.ts';
import { ENCODING_NAMES } from '../encodingNames.ts';
import classes from '../ProjectCode.module.css';
import diff from './Diff.module.css';
import { DiffBody } from './DiffBody.tsx';

interface Props {
  projectId: number;
  branch: string;
  sha: string;
  file: ChangedFile;
  raw: RawFiles;
  parentRaw: RawFiles | null;
  isSplit: boolean;
  isOpen: boolean;
  onToggle(): void;
}

/** What a commit changed in one file. */
export function FileDiff({ projectId, branch, sha, file, raw, parentRaw, isSplit, isOpen, onToggle }: Props) {
  const t = useT();
  const body = useId();
  const { path, oldPath, status, additions, deletions } = file;
  const words: Record<ChangedFile['status'], string> = {
    added: t('added'),
    modified: t('modified'),
    deleted: t('deleted'),
    renamed: t('renamed'),
    copied: t('copied'),
    'type-changed': t('type changed'),
  };
  return (
    <section className={`${classes.card} ${diff.file}`} aria-label={path} data-testid="diff-file" data-path={path}>
      <div className={diff.head}>
        <button
          type="button"
          className={diff.toggle}
          aria-expanded={isOpen}
          aria-controls={body}
          aria-label={isOpen ? t('Close {{name}}', { name: path }) : t('Open {{name}}', { name: path })}
          onClick={onToggle}
        >
          {isOpen ? <IconChevronDown size={16} /> : <IconChevronRight size={16} />}
        </button>
        <span className={`mono ${diff.path}`} title={oldPath ? `${oldPath} → ${path}` : path}>
          {oldPath !== null && oldPath !== path && <span className="muted">{oldPath} → </span>}
          {file.sha === null || status === 'deleted' ? (
            path
          ) : (
            <Link to={codePaths.blob(projectId, { branch, sha, path, blobSha: file.sha })}>{path}</Link>
          )}
        </span>
        <CopyButton value={path} label={t('Copy the path')} />
        {file.encoding && <Tag>{ENCODING_NAMES[file.encoding]}</Tag>}
        {status !== 'modified' && <Tag>{words[status]}</Tag>}
        {file.oldMode !== null && file.mode !== null && file.oldMode !== file.mode && (
          <span className={diff.mode}>
            {file.oldMode} → {file.mode}
          </span>
        )}
        <span className={diff.count}>
          {additions !== null && additions > 0 && <span className={diff.plus}>+{additions}</span>}
          {deletions !== null && deletions > 0 && <span className={diff.minus}>−{deletions}</span>}
        </span>
      </div>
      <div id={body} hidden={!isOpen}>
        {isOpen && <DiffBody file={file} raw={raw} parentRaw={parentRaw} isSplit={isSplit} />}
      </div>
    </section>
  );
}
