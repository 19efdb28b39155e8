import { Skeleton } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { IconBook } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { Suspense } from 'react';
import { Link } from 'react-router';
import { errorText } from '../../../api/messages.ts';
import { q } from '../../../api/query.ts';
import { useT } from '../../../i18n/i18n.ts';
import { lazyComponent } from '../../../lazyChunks.ts';
import { ErrorState } from '../../../ui/ErrorState.tsx';
import { isMarkdown } from '../blob/fileViews.ts';
import { type CodeAddress, codePaths } from '../codeAddress.ts';
import { readAt } from '../codeReads.ts';
import classes from '../ProjectCode.module.css';

const MarkdownView = lazyComponent(async () => (await import('../markdown/MarkdownView.tsx')).MarkdownView);

interface Props {
  projectId: number;
  address: CodeAddress & { branch: string };
  readme: { name: string; path: string; sha: string };
}

/** The README of the folder, below its entries. */
export function Readme({ projectId, address, readme }: Props) {
  const t = useT();
  const { branch, sha } = address;
  const { path } = readme;
  const input = { id: projectId, ...readAt(address), path };
  const { data, error, refetch } = useQuery(q(api.projectCode.blob, input, { quiet: true }));
  return (
    <section className={classes.card} aria-label={readme.name} data-testid="readme">
      <div className={classes.head}>
        <IconBook size={16} aria-hidden="true" />
        <Link to={codePaths.blob(projectId, { branch, sha, path, blobSha: readme.sha })}>{readme.name}</Link>
      </div>
      <div className={classes.prose}>{body()}</div>
    </section>
  );

  function body() {
    if (error && !data) return <ErrorState message={errorText(error)} onRetry={() => void refetch()} />;
    if (!data) return <Skeleton height={240} />;
    const { content } = data;
    if (content.kind !== 'text') return <p className="muted">{t('This README is not a text that can be shown.')}</p>;
    if (!isMarkdown(path)) return <pre className={classes.plain}>{content.text}</pre>;
    return (
      <Suspense fallback={<Skeleton height={240} />}>
        <MarkdownView projectId={projectId} branch={branch} sha={sha} path={path} raw={data.raw} text={content.text} />
      </Suspense>
    );
  }
}
