import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { storageCan } from '@stagi/contract/storageRules.ts';
import type { Storage, StorageObject } from '@stagi/contract/storages.ts';
import { IconDownload, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { errorText } from '../../../api/messages.ts';
import { q } from '../../../api/query.ts';
import { useT } from '../../../i18n/i18n.ts';
import { ActionButton } from '../../../ui/actions.tsx';
import { CutText } from '../../../ui/CutText.tsx';
import { RightPanel } from '../../../ui/dialogs/RightPanel.tsx';
import { ErrorState } from '../../../ui/ErrorState.tsx';
import { FactList } from '../../../ui/FactList.tsx';
import { formatBytes } from '../../../ui/format.ts';
import { PanelSkeleton } from '../../../ui/Skeletons.tsx';
import { DateTime } from '../../../ui/Time.tsx';
import { downloadObject } from './downloadObject.ts';
import { ObjectSnippets } from './ObjectSnippets.tsx';
import classes from './Objects.module.css';
import { fileNameOf, objectUrl, s3Uri } from './objectNames.ts';
import { ObjectPreview } from './preview/ObjectPreview.tsx';
import { ShareObject } from './ShareLinks.tsx';

interface Props {
  storage: Storage;
  /** Null: closed. */
  objectKey: string | null;
  onClose(): void;
  onDelete(object: StorageObject): void;
}

/** What there is to know about one object, and what to do with it. */
export function ObjectPanel({ storage, objectKey, onClose, onDelete }: Props) {
  return (
    <RightPanel
      of={objectKey}
      onClose={onClose}
      title={<CutText className={`${classes.key} ${classes.panelTitle}`}>{fileNameOf(objectKey ?? '')}</CutText>}
      testId="object-panel"
    >
      {(key) => <Opened key={key} storage={storage} objectKey={key} onDelete={onDelete} />}
    </RightPanel>
  );
}

type OpenedProps = Pick<Props, 'storage' | 'onDelete'> & { objectKey: string };

/** The first key that begins with a key is the key itself, if there is such an object. */
function Opened({ storage, objectKey, onDelete }: OpenedProps) {
  const t = useT();
  const input = { id: storage.id, prefix: objectKey, folders: false, limit: 1 };
  const { data, error, refetch, isFetching } = useQuery(q(api.storages.objects, input, { quiet: true }));
  if (error && !data)
    return <ErrorState message={errorText(error)} onRetry={() => void refetch()} retrying={isFetching} />;
  if (!data) return <PanelSkeleton rows={6} />;
  const object = data.objects.find(({ key }) => key === objectKey);
  if (!object) return <p>{t('This object does not exist any more.')}</p>;
  const uri = s3Uri(storage.bucket, object.key);
  const url = objectUrl(storage.endpoint, storage.bucket, object.key);
  return (
    <Stack gap={24}>
      <div className={classes.buttons}>
        <ActionButton
          tone="primary"
          icon={<IconDownload size={16} />}
          testId="object-download"
          onClick={() => void downloadObject(storage.id, object.key)}
        >
          {t('Download')}
        </ActionButton>
        <ActionButton
          tone="danger"
          icon={<IconTrash size={16} />}
          verdict={storageCan.write(storage)}
          testId="object-delete"
          onClick={() => onDelete(object)}
        >
          {t('Delete')}
        </ActionButton>
      </div>
      <Section title={t('Preview')}>
        <ObjectPreview storage={storage} object={object} />
      </Section>
      <FactList
        facts={[
          {
            label: t('Key'),
            value: <span className={classes.wholeKey}>{object.key}</span>,
            mono: true,
            copy: object.key,
          },
          { label: t('Size'), value: sizeWords(), mono: true },
          { label: t('Type'), value: object.contentType, mono: true },
          { label: t('Modified'), value: <DateTime at={object.modifiedAt} /> },
          { label: t('ETag'), value: object.etag, mono: true, copy: object.etag },
          { label: t('S3 URI'), value: <span className={classes.wholeKey}>{uri}</span>, mono: true, copy: uri },
          { label: t('URL'), value: url, mono: true, copy: url },
        ]}
      />
      <Section title={t('Share')}>
        <ShareObject storage={storage} objectKey={object.key} />
      </Section>
      <Section title={t('Fetch it with')}>
        <ObjectSnippets storage={storage} objectKey={object.key} />
      </Section>
    </Stack>
  );

  function sizeWords(): string {
    const bytes = object?.sizeBytes ?? 0;
    return bytes < 1024 ? formatBytes(bytes) : `${formatBytes(bytes)} (${t('{{count}} bytes', { count: bytes })})`;
  }
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className={classes.section}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}
