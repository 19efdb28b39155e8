import { Progress } from '@mantine/core';
import type { Storage } from '@stagi/contract/storages.ts';
import { Link } from 'react-router';
import { useT } from '../../../i18n/i18n.ts';
import { paths } from '../../../paths.ts';
import { Button } from '../../../ui/Button.tsx';
import { formatDate } from '../../../ui/format.ts';
import { Note } from '../../../ui/Note.tsx';
import { Elapsed } from '../../../ui/Time.tsx';

/** What is out of the ordinary: its creation, its deletion, an empty balance. */
export function StorageState({ storage }: { storage: Storage }) {
  const t = useT();
  const { kind, status, statusSince, statusReason, readOnly, deletedAt } = storage;
  const when = deletedAt && formatDate(deletedAt);
  switch (status) {
    case 'renting':
      return (
        <Note
          title={
            <>
              {t('The storage is being created')} · <Elapsed since={statusSince} />
            </>
          }
        >
          {statusReason && t(statusReason)}
          <Progress mt={8} size="sm" value={100} animated striped aria-label={t('Progress')} />
        </Note>
      );
    case 'creation failed':
      return (
        <Note
          tone="bad"
          title={t('The storage could not be created')}
          action={
            <Button color="gray" size="xs" component={Link} to={paths.newStorage()}>
              {t('Create another')}
            </Button>
          }
        >
          {statusReason && t(statusReason)}
        </Note>
      );
    case 'terminating':
    case 'deleted':
      return <Note>{t('This storage is deleted or being deleted. This is its last known state.')}</Note>;
    default:
      if (kind === 'log' && when)
        return (
          <Note tone="warn">{t('Its server has been terminated. Its logs are deleted on {{when}}.', { when })}</Note>
        );
      if (!readOnly) return null;
      return (
        <Note
          tone="warn"
          title={t('Zero balance: this storage is read-only until a deposit')}
          action={
            <Button color="gray" size="xs" component={Link} to={paths.balance()}>
              {t('Balance')}
            </Button>
          }
        >
          {when && t('Without a deposit its data is deleted on {{when}}.', { when })}
        </Note>
      );
  }
}
