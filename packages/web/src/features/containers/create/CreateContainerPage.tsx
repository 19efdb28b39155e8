import { Anchor, Skeleton } from '@mantine/core';
import { IconServerOff } from '@tabler/icons-react';
import { Link, useSearchParams } from 'react-router';
import { useT } from '../../../i18n/i18n.ts';
import { paths } from '../../../paths.ts';
import { Button } from '../../../ui/Button.tsx';
import { EmptyState } from '../../../ui/EmptyState.tsx';
import { ErrorState } from '../../../ui/ErrorState.tsx';
import { PageHeader } from '../../../ui/PageHeader.tsx';
import classes from './Create.module.css';
import { CreateContainerForm } from './CreateContainerForm.tsx';
import { useServers } from './useServers.ts';

export function CreateContainerPage() {
  const t = useT();
  const [params] = useSearchParams();
  return (
    <>
      <PageHeader title={t('Create a container')}>{t('It starts as soon as its image is on the server.')}</PageHeader>
      <Body wanted={params.get('server')} />
    </>
  );
}

function Body({ wanted }: { wanted: string | null }) {
  const t = useT();
  const { servers, error, retry } = useServers();
  if (error && !servers) return <ErrorState message={error} onRetry={retry} />;
  if (!servers) return <Skeleton height={400} />;
  if (servers.length === 0) {
    return (
      <EmptyState
        icon={<IconServerOff size={20} />}
        title={t('A container needs a server')}
        action={
          <Button component={Link} to={paths.marketplace()}>
            {t('Rent a server')}
          </Button>
        }
      >
        {t('Rent one, ready in about 2 minutes, or')}{' '}
        <Anchor component={Link} to={paths.joinServer()} fz="inherit" underline="always">
          {t('attach one of your own')}
        </Anchor>
        .
      </EmptyState>
    );
  }
  return (
    <div className={classes.page}>
      <CreateContainerForm servers={servers} wanted={wanted} />
    </div>
  );
}
