import { Stack } from '@mantine/core';
import type { StorageObject } from '@stagi/contract/storages.ts';
import { IconDownload } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { errorText } from '../api/messages.ts';
import { useT } from '../i18n/i18n.ts';
import { ActionButton } from '../ui/actions.tsx';
import { CutText } from '../ui/CutText.tsx';
import { RightPanel } from '../ui/dialogs/RightPanel.tsx';
import { ErrorState } from '../ui/ErrorState.tsx';
import { type Fact, FactList } from '../ui/FactList.tsx';
import { formatBytes } from '../ui/format.ts';
import { PanelSkeleton } from '../ui/Skeletons.tsx';
import { DateTime } from '../ui/Time.tsx';
import classes from './Objects.module.css';
import { fileNameOf } from './objectNames.ts';
import type { ObjectSource } from './objectSource.ts';
import { downloadVerdict, openDownload } from './openDownload.ts';
import { ObjectPreview } from './preview/ObjectPreview.tsx';
import { useTypeWords } from './typeWords.ts';

interface Props {
  source: ObjectSource;
  /** Null: closed. */
  objectKey: string | null;
  onClose(): void;
  /** Beside the button that downloads it. */
  buttons?(object: StorageObject): ReactNode;
  moreFacts?(object: StorageObject): readonly Fact[];
  /** Below the facts. */
  children?(object: StorageObject): ReactNode;
}

/** What there is to know about one object, and what to do with it. */
export function ObjectPanel({ objectKey, onClose, ...opened }: Props) {
  return (
    <RightPanel
      of={objectKey}
      onClose={onClose}
      title={<CutText className={`${classes.key} ${classes.panelTitle}`}>{fileNameOf(objectKey ?? '')}</CutText>}
      testId="object-panel"
    >
      {(key) => <Opened key={key} objectKey={key} {...opened} />}
    </RightPanel>
  );
}

type OpenedProps = Omit<Props, 'objectKey' | 'onClose'> & { objectKey: string };

function Opened({ source, objectKey, buttons, moreFacts, children }: OpenedProps) {
  const t = useT();
  const typeWords = useTypeWords();
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: [source.path, { id: source.id, part: source.part, key: objectKey }] as const,
    queryFn: ({ signal }) => viewObject(source, objectKey, signal),
    meta: { quiet: true },
  });
  if (error && data === undefined)
    return <ErrorState message={errorText(error)} onRetry={() => void refetch()} retrying={isFetching} />;
  if (data === undefined) return <PanelSkeleton rows={6} />;
  const object = data;
  if (!object) return <p>{t('This object does not exist any more.')}</p>;
  const uri = source.uri?.(object.key);
  return (
    <Stack gap={24}>
      <div className={classes.buttons}>
        <ActionButton
          tone="primary"
          icon={<IconDownload size={16} />}
          testId="object-download"
          verdict={downloadVerdict(source, object)}
          onClick={() => void openDownload(source, object.key)}
        >
          {t('Download')}
        </ActionButton>
        {buttons?.(object)}
      </div>
      <PanelSection title={t('Preview')}>
        <ObjectPreview source={source} object={object} />
      </PanelSection>
      <FactList
        facts={[
          {
            label: uri === undefined ? t('Path') : t('Key'),
            value: <span className={classes.wholeKey}>{object.key}</span>,
            mono: true,
            copy: object.key,
          },
          { label: t('Size'), value: sizeWords(), mono: true },
          { label: t('Type'), value: typeWords(object.contentType), mono: true },
          { label: t('Modified'), value: <DateTime at={object.modifiedAt} /> },
          ...(uri === undefined
            ? []
            : [
                { label: t('ETag'), value: object.etag, mono: true, copy: object.etag },
                { label: t('S3 URI'), value: <span className={classes.wholeKey}>{uri}</span>, mono: true, copy: uri },
              ]),
          ...(moreFacts?.(object) ?? []),
        ]}
      />
      {children?.(object)}
    </Stack>
  );

  function sizeWords(): string {
    const bytes = data?.sizeBytes ?? 0;
    return bytes < 1024 ? formatBytes(bytes) : `${formatBytes(bytes)} (${t('{{count}} bytes', { count: bytes })})`;
  }
}

/** The first key that begins with a key is the key itself, if there is such an object. */
async function viewObject(source: ObjectSource, key: string, signal: AbortSignal): Promise<StorageObject | null> {
  if (source.view) return source.view(key, signal);
  const { objects } = await source.list({ prefix: key, limit: 1 }, signal);
  return objects.find((object) => object.key === key) ?? null;
}

export function PanelSection({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={classes.section}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}
