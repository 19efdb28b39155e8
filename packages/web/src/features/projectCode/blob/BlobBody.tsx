import { Skeleton } from '@mantine/core';
import { IconFileUnknown, IconGitMerge } from '@tabler/icons-react';
import { type ReactNode, Suspense, useState } from 'react';
import { Link, useLocation, useNavigate } from 'react-router';
import { useT } from '../../../i18n/i18n.ts';
import { lazyComponent } from '../../../lazyChunks.ts';
import { EmptyState } from '../../../ui/EmptyState.tsx';
import { formatBytes } from '../../../ui/format.ts';
import { Note } from '../../../ui/Note.tsx';
import { codePaths, folderOf, linesHash, parseLines } from '../codeAddress.ts';
import { languageOf } from '../highlight/languageOf.ts';
import { resolveLink } from '../markdown/resolveLink.ts';
import classes from '../ProjectCode.module.css';
import { rawLink } from '../rawLink.ts';
import type { Blob } from './blob.ts';
import { CodeView } from './CodeView.tsx';
import { type FileView, isNotebook } from './fileViews.ts';
import type { Lines } from './lines.ts';

const MarkdownView = lazyComponent(async () => (await import('../markdown/MarkdownView.tsx')).MarkdownView);
const NotebookView = lazyComponent(async () => (await import('../notebook/NotebookView.tsx')).NotebookView);
const BlameView = lazyComponent(async () => (await import('./BlameView.tsx')).BlameView);

/** Characters by which code can look like other code (CVE-2021-42574). */
const TURNS_TEXT = /[\u202a-\u202e\u2066-\u2069]/;

interface Props {
  projectId: number;
  branch: string;
  sha: string | null;
  blob: Blob;
  view: FileView;
}

export function BlobBody(props: Props) {
  const t = useT();
  const { projectId, branch, sha, blob } = props;
  const { content, path } = blob;
  switch (content.kind) {
    case 'text':
      return <Text {...props} text={content.text} />;
    case 'binary':
      if (blob.imageType !== null) return <Picture blob={blob} />;
      return <Instead title={t('This is a binary file')}>{t('Download it to look inside.')}</Instead>;
    case 'too-large':
      if (blob.imageType !== null) return <Picture blob={blob} />;
      return (
        <Instead title={t('This file is too large to be shown here')}>
          {t('It has {{size}}. Up to {{limit}} are shown: download it to look inside.', {
            size: formatBytes(blob.size),
            limit: formatBytes(content.limitBytes),
          })}
        </Instead>
      );
    case 'lfs':
      return (
        <Instead title={t('This file is kept by Git LFS')}>
          {t('The repository holds only a pointer to it: {{size}}, SHA-256 {{oid}}.', {
            size: formatBytes(content.sizeBytes),
            oid: content.oid,
          })}
        </Instead>
      );
    case 'symlink': {
      const target = resolveLink(encodeURI(content.target), folderOf(path));
      return (
        <Instead title={t('This is a symbolic link')}>
          {t('It points to')}{' '}
          {target?.kind === 'path' && target.path !== '' && !content.target.startsWith('/') ? (
            <Link to={codePaths.tree(projectId, { branch, sha, path: target.path })} className="mono">
              {content.target}
            </Link>
          ) : (
            <span className="mono">{content.target}</span>
          )}
        </Instead>
      );
    }
    case 'submodule':
      return (
        <Instead title={t('This is a submodule')} icon={<IconGitMerge size={20} />}>
          {t('It stands for commit {{commit}} of another repository.', { commit: content.commit })}
          {content.url !== null && (
            <>
              {' '}
              <span className="mono">{content.url}</span>
            </>
          )}
        </Instead>
      );
  }
}

/** What stands in place of a text. */
function Instead({ title, icon, children }: { title: string; icon?: ReactNode; children: ReactNode }) {
  return (
    <div data-testid="blob-instead">
      <EmptyState icon={icon ?? <IconFileUnknown size={20} />} title={title}>
        {children}
      </EmptyState>
    </div>
  );
}

function Text({ projectId, branch, sha, blob, view, text }: Props & { text: string }) {
  const t = useT();
  const navigate = useNavigate();
  const { hash, search } = useLocation();
  const { path, raw } = blob;
  const code = {
    text,
    language: languageOf(path, text),
    label: t('Text of {{name}}', { name: path }),
    marked: useLines(hash),
    onMark: (lines: Lines) =>
      void navigate({ search, hash: linesHash(lines) }, { replace: true, preventScrollReset: true }),
  };
  if (view === 'source')
    return (
      <>
        {TURNS_TEXT.test(text) && (
          <Note tone="warn">
            {t('This file has characters that change the direction of text: it may read otherwise than it runs.')}
          </Note>
        )}
        <CodeView {...code} />
      </>
    );
  return <Suspense fallback={<Skeleton height={360} m={16} />}>{other()}</Suspense>;

  function other() {
    if (view === 'blame') return <BlameView {...code} {...{ projectId, branch, sha, path }} />;
    if (blob.imageType !== null) return <Picture blob={blob} />;
    const place = { projectId, branch, sha, path, raw };
    return (
      <div className={classes.prose}>
        {isNotebook(path) ? <NotebookView {...place} source={text} /> : <MarkdownView {...place} text={text} />}
      </div>
    );
  }
}

/** The same object for the same hash, so that effects see no change where there is none. */
function useLines(hash: string): Lines | null {
  const [known, setKnown] = useState({ hash, lines: parseLines(hash) });
  if (known.hash === hash) return known.lines;
  const lines = parseLines(hash);
  setKnown({ hash, lines });
  return lines;
}

/** From the content host, which answers an SVG too without letting it run. */
function Picture({ blob }: { blob: Blob }) {
  const t = useT();
  const [failed, setFailed] = useState(false);
  const { raw, path, name } = blob;
  if (raw === null || failed)
    return <Instead title={t('This picture could not be shown')}>{t('Download it to look inside.')}</Instead>;
  return (
    <div className={classes.pictureFrame}>
      <img
        src={rawLink(raw, path)}
        alt={t('Picture {{name}}', { name })}
        className={classes.picture}
        onError={() => setFailed(true)}
        data-testid="blob-image"
      />
    </div>
  );
}
