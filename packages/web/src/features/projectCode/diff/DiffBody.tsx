import type { ChangedFile, RawFiles } from '@stagi/contract/projectCode.ts';
import parseDiff from 'parse-diff';
import { useMemo } from 'react';
import { useT } from '../../../i18n/i18n.ts';
import { Note } from '../../../ui/Note.tsx';
import { rawLink } from '../rawLink.ts';
import diff from './Diff.module.css';
import { DiffTable } from './DiffTable.tsx';
import { patchBody } from './patchBody.ts';

interface Props {
  file: ChangedFile;
  raw: RawFiles;
  parentRaw: RawFiles | null;
  isSplit: boolean;
}

const PICTURE = /\.(?:png|jpe?g|gif|webp|avif|bmp|ico)$/i;

/** The changed lines, or why there are none to show. */
export function DiffBody({ file, raw, parentRaw, isSplit }: Props) {
  const t = useT();
  const { patch, isBinary, isCut, path, oldPath, status } = file;
  const chunks = useMemo(() => (patch === null ? [] : (parseDiff(patchBody(patch))[0]?.chunks ?? [])), [patch]);
  if (isBinary && PICTURE.test(path))
    return (
      <div className={diff.pictures}>
        {status !== 'added' && parentRaw && <Picture title={t('Before')} src={rawLink(parentRaw, oldPath ?? path)} />}
        {status !== 'deleted' && <Picture title={t('After')} src={rawLink(raw, path)} />}
      </div>
    );
  return (
    <>
      {isBinary && <p className={diff.note}>{t('A binary file: its contents are not compared.')}</p>}
      {chunks.length > 0 && <DiffTable chunks={chunks} path={path} isSplit={isSplit} />}
      {isCut && (
        <div className={diff.cut} data-testid="diff-cut">
          <Note tone="warn">
            {chunks.length > 0
              ? t('The diff of this file is too long: it ends here.')
              : t('The diff of this file is too long to be shown.')}
          </Note>
        </div>
      )}
      {!isBinary && !isCut && chunks.length === 0 && (
        <p className={diff.note}>
          {status === 'renamed' || status === 'copied'
            ? t('The contents are the same.')
            : t('There are no changed lines to show.')}
        </p>
      )}
    </>
  );
}

function Picture({ title, src }: { title: string; src: string }) {
  return (
    <figure className={diff.picture}>
      <figcaption>{title}</figcaption>
      <img src={src} alt={title} loading="lazy" />
    </figure>
  );
}
