import { Stack } from '@mantine/core';
import type { Storage } from '@stagi/contract/storages.ts';
import { Link } from 'react-router';
import { useHasPermission } from '../../../api/user.ts';
import { useT } from '../../../i18n/i18n.ts';
import { paths } from '../../../paths.ts';
import { FactList, FactPanels } from '../../../ui/FactList.tsx';
import { formatNumber } from '../../../ui/format.ts';
import { Money } from '../../../ui/Money.tsx';
import { DateTime } from '../../../ui/Time.tsx';
import { Snippets } from '../Snippets.tsx';
import { UseBar } from '../UseBar.tsx';
import { StorageState } from './StorageState.tsx';
import { UsageChart } from './UsageChart.tsx';

export function StorageOverview({ storage }: { storage: Storage }) {
  const t = useT();
  const seesUse = useHasPermission('BILLING');
  const { kind, instance, endpoint, machineEndpoint, bucket, region } = storage;
  const isOpen = storage.status === 'rented' || storage.status === 'error';
  return (
    <Stack gap={16}>
      <StorageState storage={storage} />
      <FactPanels>
        <FactList
          title={kind === 'log' ? t('Log bucket') : t('Storage')}
          facts={[
            ...(instance
              ? [{ label: t('Server'), value: <Link to={paths.instance(instance.id)}>{instance.title}</Link> }]
              : []),
            { label: t('Used'), value: <UseBar storage={storage} /> },
            { label: t('Objects'), value: formatNumber(storage.objectCount, 0), mono: true },
            { label: t('Location'), value: t(storage.locationTitle) },
            ...(kind === 'log'
              ? [{ label: t('Price'), value: t('Free of charge') }]
              : [
                  { label: t('Price per month'), value: <Money price={storage.pricePerMonth} per="month" /> },
                  { label: t('Price per hour'), value: <Money price={storage.pricePerHour} per="hour" /> },
                  ...(seesUse
                    ? [{ label: t('Usage'), value: <Link to={paths.usage(storage.slug)}>{t('View cost')}</Link> }]
                    : []),
                  { label: t('Created by'), value: storage.createdBy },
                ]),
            { label: t('Created'), value: <DateTime at={storage.createdAt} /> },
          ]}
        />
        <FactList
          title={t('Connection')}
          facts={[
            { label: t('Endpoint'), value: endpoint, mono: true, copy: endpoint },
            ...(machineEndpoint === endpoint
              ? []
              : [{ label: t('From rented servers'), value: machineEndpoint, mono: true, copy: machineEndpoint }]),
            { label: t('Bucket'), value: bucket, mono: true, copy: bucket },
            { label: t('S3 URI'), value: `s3://${bucket}`, mono: true, copy: `s3://${bucket}` },
            { label: t('Region'), value: region, mono: true, copy: region },
            {
              label: t('Access keys'),
              value: <Link to={paths.storage(storage.id, 'keys')}>{t('Create a key')}</Link>,
            },
          ]}
        />
      </FactPanels>
      {isOpen && <UsageChart storage={storage} />}
      {isOpen && <Snippets storage={storage} />}
    </Stack>
  );
}
