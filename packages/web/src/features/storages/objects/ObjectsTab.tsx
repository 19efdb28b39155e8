import { Skeleton } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import type { Storage } from '@stagi/contract/storages.ts';
import { IconFolder } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { errorText } from '../../../api/messages.ts';
import { q } from '../../../api/query.ts';
import { useT } from '../../../i18n/i18n.ts';
import { EmptyState } from '../../../ui/EmptyState.tsx';
import { ErrorState } from '../../../ui/ErrorState.tsx';

/** The objects of a storage. */
export function ObjectsTab({ storage }: { storage: Storage }) {
  const t = useT();
  const { data, error, isFetching, refetch } = useQuery(q(api.storages.objects, { id: storage.id }));
  if (error) return <ErrorState message={errorText(error)} onRetry={() => void refetch()} retrying={isFetching} />;
  if (!data) return <Skeleton height={240} />;
  if (data.folders.length + data.objects.length === 0)
    return (
      <EmptyState icon={<IconFolder size={20} />} title={t('No objects yet')}>
        {t('Upload with any S3 tool: make a key under “Keys” and paste its snippet.')}
      </EmptyState>
    );
  return (
    <ul className="mono">
      {[...data.folders, ...data.objects.map(({ key }) => key)].map((name) => (
        <li key={name}>{name}</li>
      ))}
    </ul>
  );
}
