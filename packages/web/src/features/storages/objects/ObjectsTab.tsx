import { storageCan } from '@stagi/contract/storageRules.ts';
import type { Storage } from '@stagi/contract/storages.ts';
import { IconFolderPlus, IconLink, IconRefresh, IconTrash, IconUpload } from '@tabler/icons-react';
import { useState } from 'react';
import { Link, useNavigate } from 'react-router';
import { useT } from '../../../i18n/i18n.ts';
import { DownloadAll } from '../../../objects/DownloadAll.tsx';
import { EmptyFolder } from '../../../objects/EmptyFolder.tsx';
import { FolderCrumbs } from '../../../objects/FolderCrumbs.tsx';
import { MoreRows } from '../../../objects/MoreRows.tsx';
import { ObjectTable } from '../../../objects/ObjectTable.tsx';
import { PrefixSearch } from '../../../objects/PrefixSearch.tsx';
import { type Row, useFolder, useObjectAddress } from '../../../objects/useFolder.ts';
import { ActionButton } from '../../../ui/actions.tsx';
import { EmptyState } from '../../../ui/EmptyState.tsx';
import { IconButton } from '../../../ui/IconButton.tsx';
import { Note } from '../../../ui/Note.tsx';
import { ListBar } from '../../../ui/table/ListBar.tsx';
import { DropZone } from '../../../uploads/DropZone.tsx';
import { UploadButton } from '../../../uploads/UploadButton.tsx';
import { UploadQueue } from '../../../uploads/UploadQueue.tsx';
import { DeleteObjectsDialog } from './DeleteObjectsDialog.tsx';
import { NewFolderDialog } from './NewFolderDialog.tsx';
import classes from './Objects.module.css';
import { ShareLinksDialog } from './ShareLinks.tsx';
import { StorageObjectPanel } from './StorageObjectPanel.tsx';
import { storageObjects } from './storageObjects.ts';
import { OpenUploads, useOpenUploads } from './uploads/OpenUploads.tsx';
import { placeOfStorage } from './uploads/storageUpload.ts';
import { useStartUploads } from './uploads/useStartUploads.tsx';

/** The objects of a storage: folders, uploads, and a panel for each object. */
export function ObjectsTab({ storage }: { storage: Storage }) {
  const t = useT();
  const mayRead = storageCan.read(storage);
  return mayRead.allowed ? <Browser storage={storage} /> : <Note tone="warn">{t(mayRead.reason)}</Note>;
}

type OpenDialog = 'folder' | 'links' | null;

function Browser({ storage }: { storage: Storage }) {
  const t = useT();
  const navigate = useNavigate();
  const address = useObjectAddress();
  const { folder, search } = address;
  const source = storageObjects(storage);
  const list = useFolder(source, folder, search);
  const mayWrite = storageCan.write(storage);
  const refusal = mayWrite.allowed ? null : t(mayWrite.reason);
  const open = useOpenUploads(storage, mayWrite.allowed);
  const { start, isLooking, question } = useStartUploads({ storage, source, folder, open });
  const [dialog, setDialog] = useState<OpenDialog>(null);
  const [deleting, setDeleting] = useState<readonly Row[] | null>(null);

  return (
    <DropZone target={folder === '' ? storage.bucket : folder} refusal={refusal} onFiles={(files) => void start(files)}>
      {refusal && (
        <div className={classes.gap}>
          <Note tone={storage.readOnly ? 'warn' : 'info'}>{refusal}</Note>
        </div>
      )}
      <ListBar
        end={
          <>
            <IconButton label={t('Refresh')} size="s" onClick={list.refresh} aria-busy={list.refreshing}>
              <IconRefresh size={16} />
            </IconButton>
            <DownloadAll source={source} folder={folder} search={search} list={list} />
            <IconButton label={t('Links to objects')} size="s" onClick={() => setDialog('links')}>
              <IconLink size={16} />
            </IconButton>
            <ActionButton
              icon={<IconFolderPlus size={16} />}
              verdict={mayWrite}
              testId="new-folder"
              onClick={() => setDialog('folder')}
            >
              {t('New folder')}
            </ActionButton>
            <UploadButton refusal={refusal} loading={isLooking} onFiles={(files) => void start(files)} />
          </>
        }
      >
        <PrefixSearch value={search} onChange={address.setSearch} />
      </ListBar>
      <FolderCrumbs
        top={storage.bucket}
        folder={folder}
        link={(prefix, name) => <Link to={address.toFolder(prefix)}>{name}</Link>}
      />
      <UploadQueue place={placeOfStorage(storage.id)} />
      <OpenUploads storage={storage} uploads={open} />
      <ObjectTable
        source={source}
        folder={folder}
        search={search}
        list={list}
        linkTo={(row) => (row.kind === 'folder' ? address.toFolder(row.key) : address.toObject(row.key))}
        moreActions={(row) => [
          {
            label: t('Delete'),
            icon: <IconTrash size={16} />,
            danger: true,
            verdict: mayWrite,
            testId: 'action-delete',
            onClick: () => setDeleting([row]),
          },
        ]}
        bulk={[
          {
            label: t('Delete'),
            icon: <IconTrash size={14} />,
            danger: true,
            testId: 'bulk-delete',
            verdict: () => mayWrite,
            onClick: setDeleting,
          },
        ]}
        empty={
          <EmptyFolder address={address} hint={refusal ?? t('Drop files here, or press Upload.')}>
            <EmptyState icon={<IconUpload size={20} />} title={t('No objects yet')}>
              {refusal ??
                t(
                  'Drop files or folders here, or press Upload. With S3 tools: make a key under “Keys” and use its snippet.',
                )}
            </EmptyState>
          </EmptyFolder>
        }
      />
      <MoreRows list={list} />
      {question}
      <StorageObjectPanel
        storage={storage}
        source={source}
        objectKey={address.opened}
        onClose={address.closeObject}
        onDelete={(object) => setDeleting([{ kind: 'object', key: object.key, object }])}
      />
      <NewFolderDialog
        storage={storage}
        folder={folder}
        opened={dialog === 'folder'}
        onClose={() => setDialog(null)}
        onMade={(prefix) => {
          setDialog(null);
          void navigate(address.toFolder(prefix));
        }}
      />
      <ShareLinksDialog storage={storage} opened={dialog === 'links'} onClose={() => setDialog(null)} />
      <DeleteObjectsDialog
        storage={storage}
        rows={deleting}
        onClose={() => setDeleting(null)}
        onDone={() => address.opened !== null && address.closeObject()}
      />
    </DropZone>
  );
}
