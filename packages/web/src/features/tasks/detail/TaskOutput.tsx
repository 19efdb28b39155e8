import { Anchor, Stack } from '@mantine/core';
import { outputPrefix } from '@stagi/contract/taskRules.ts';
import type { TaskDetail } from '@stagi/contract/tasks.ts';
import { IconPackage, IconRefresh } from '@tabler/icons-react';
import { Link } from 'react-router';
import { useHasPermission } from '../../../api/user.ts';
import { useT } from '../../../i18n/i18n.ts';
import { DownloadAll } from '../../../objects/DownloadAll.tsx';
import { EmptyFolder } from '../../../objects/EmptyFolder.tsx';
import { FolderCrumbs } from '../../../objects/FolderCrumbs.tsx';
import { MoreRows } from '../../../objects/MoreRows.tsx';
import { ObjectPanel } from '../../../objects/ObjectPanel.tsx';
import { ObjectTable } from '../../../objects/ObjectTable.tsx';
import { PrefixSearch } from '../../../objects/PrefixSearch.tsx';
import { useFolder, useObjectAddress } from '../../../objects/useFolder.ts';
import { paths } from '../../../paths.ts';
import { CopyButton } from '../../../ui/CopyButton.tsx';
import { EmptyState } from '../../../ui/EmptyState.tsx';
import { ErrorState } from '../../../ui/ErrorState.tsx';
import { IconButton } from '../../../ui/IconButton.tsx';
import { ListBar } from '../../../ui/table/ListBar.tsx';
import { hasEnded } from '../useTaskActions.tsx';
import classes from './Detail.module.css';
import { OutputState } from './OutputState.tsx';
import { taskOutput } from './taskOutput.ts';

/** The files that a task has put out, as they lie in its storage. */
export function TaskOutput({ task }: { task: TaskDetail }) {
  const t = useT();
  const address = useObjectAddress();
  const { folder, search } = address;
  const source = taskOutput(task);
  const list = useFolder(source, folder, search);
  // What was listed before is of no use: no file of it can be opened.
  const isGone = task.storage.status === 'terminating' || task.storage.status === 'deleted';
  return (
    <Stack gap={16}>
      <OutputState task={task} />
      {isGone || (list.error !== null && !list.rows) ? (
        <ErrorState
          title={t("Couldn't get output")}
          message={isGone ? t('The storage of this task was deleted') : (list.error ?? '')}
          onRetry={list.refresh}
          retrying={list.refreshing}
        />
      ) : (
        <div>
          <ListBar
            end={
              <>
                <StoredAt task={task} />
                <IconButton label={t('Refresh')} size="s" onClick={list.refresh} aria-busy={list.refreshing}>
                  <IconRefresh size={16} />
                </IconButton>
                <DownloadAll source={source} folder={folder} search={search} list={list} />
              </>
            }
          >
            <PrefixSearch value={search} onChange={address.setSearch} />
          </ListBar>
          <FolderCrumbs
            top="output"
            folder={folder}
            link={(prefix, name) => <Link to={address.toFolder(prefix)}>{name}</Link>}
          />
          <ObjectTable
            source={source}
            folder={folder}
            search={search}
            list={list}
            linkTo={(row) => (row.kind === 'folder' ? address.toFolder(row.key) : address.toObject(row.key))}
            empty={<EmptyFolder address={address}>{noOutput()}</EmptyFolder>}
          />
          <MoreRows list={list} />
        </div>
      )}
      <ObjectPanel source={source} objectKey={address.opened} onClose={address.closeObject} />
    </Stack>
  );

  function noOutput() {
    return (
      <EmptyState icon={<IconPackage size={20} />} title={hasEnded(task) ? t('No output') : t('No output so far')}>
        {hasEnded(task)
          ? t('No file was stored. A command puts out what it writes to {{path}}.', { path: task.outputPath })
          : t('What the command writes to {{path}} is stored here after its end.', { path: task.outputPath })}
      </EmptyState>
    );
  }
}

/** The place in the storage: a link, where the person's role opens storages. */
function StoredAt({ task: { id, storage, outputUri } }: { task: TaskDetail }) {
  const t = useT();
  const mayOpen = useHasPermission('INSTANCE_RENTED_MANAGEMENT') && storage.status !== 'deleted';
  return (
    <span className={classes.storedAt}>
      {mayOpen && (
        <Anchor
          component={Link}
          to={`${paths.storage(storage.id, 'objects')}?${new URLSearchParams({ prefix: outputPrefix(id) })}`}
          fz="inherit"
          underline="always"
        >
          {t('In the storage')}
        </Anchor>
      )}
      <CopyButton value={outputUri} label={t('Copy the S3 URI')} />
    </span>
  );
}
