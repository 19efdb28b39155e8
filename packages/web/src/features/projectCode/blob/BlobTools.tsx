import { IconDownload, IconFileText, IconHistory, IconLink } from '@tabler/icons-react';
import { Link, useHref, useLocation } from 'react-router';
import { useT } from '../../../i18n/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { CopyButton } from '../../../ui/CopyButton.tsx';
import { formatBytes } from '../../../ui/format.ts';
import { Tag } from '../../../ui/Tag.tsx';
import { codePaths } from '../codeAddress.ts';
import { useQueryLink } from '../codePlace.ts';
import { ENCODING_NAMES } from '../encodingNames.ts';
import classes from '../ProjectCode.module.css';
import { rawLink } from '../rawLink.ts';
import { ViewSwitch } from '../ViewSwitch.tsx';
import type { Blob } from './blob.ts';
import type { FileView } from './fileViews.ts';
import { LineBox } from './LineBox.tsx';
import { linesOf } from './lines.ts';

interface Props {
  projectId: number;
  branch: string;
  sha: string | null;
  blob: Blob;
  views: readonly FileView[];
  view: FileView;
}

/** What the file is, the ways to look at it, and to take it along. */
export function BlobTools({ projectId, branch, sha, blob, views, view }: Props) {
  const t = useT();
  const { hash } = useLocation();
  const queryLink = useQueryLink();
  const { content, path, raw } = blob;
  const words: Record<FileView, string> = { preview: t('Preview'), source: t('Code'), blame: t('Blame') };
  const text = content.kind === 'text' ? content.text : null;
  const isFile = blob.type === 'blob';
  const commit = sha ?? blob.commit?.sha ?? null;
  const permalink = useHref(
    commit === null ? '' : codePaths.blob(projectId, { branch, sha: commit, path, blobSha: blob.sha }) + hash,
  );
  return (
    <div className={classes.head}>
      {text !== null && (
        <ViewSwitch
          label={t('View')}
          chosen={view}
          views={views.map((key) => ({
            key,
            label: words[key],
            to: queryLink({ view: key === views[0] ? null : key }) + hash,
          }))}
        />
      )}
      <span className={classes.facts} data-testid="blob-facts">
        {text !== null && <span>{t('{{count}} lines', { count: linesOf(text).length })}</span>}
        {isFile && <span>{formatBytes(blob.size)}</span>}
        {content.kind === 'text' && content.encoding && <Tag>{ENCODING_NAMES[content.encoding]}</Tag>}
        {blob.mode === '100755' && <Tag>{t('executable')}</Tag>}
      </span>
      <span className={classes.tools}>
        {text !== null && view !== 'preview' && <LineBox />}
        {text !== null && <CopyButton value={text} label={t('Copy the file')} />}
        {commit !== null && (
          <CopyButton
            icon={<IconLink size={14} />}
            value={window.location.origin + permalink}
            label={t('Copy a link to this version')}
          />
        )}
        {isFile && raw && (
          <>
            <Button
              component="a"
              href={rawLink(raw, path)}
              target="_blank"
              rel="noreferrer"
              size="xs"
              color="gray"
              icon={<IconFileText size={14} />}
              data-testid="blob-raw"
            >
              {t('Raw')}
            </Button>
            <Button
              component="a"
              href={rawLink(raw, path, { download: true })}
              download
              size="xs"
              color="gray"
              icon={<IconDownload size={14} />}
              data-testid="blob-download"
            >
              {t('Download')}
            </Button>
          </>
        )}
        <Button
          component={Link}
          to={codePaths.commits(projectId, { branch, path, sha })}
          size="xs"
          color="gray"
          icon={<IconHistory size={14} />}
          data-testid="history-link"
        >
          {t('History')}
        </Button>
      </span>
    </div>
  );
}
