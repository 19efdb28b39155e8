import { Box } from '@mantine/core';
import { containerCan } from '@stagi/contract/containerRules.ts';
import type { Container } from '@stagi/contract/containers.ts';
import type { StorageObject } from '@stagi/contract/storages.ts';
import { text } from '@stagi/contract/text.ts';
import { no, type Verdict, yes } from '@stagi/contract/verdict.ts';
import { MAX_EDITED_BYTES } from '@stagi/contract/volumeFiles.ts';
import { IconFilePlus, IconFolderPlus, IconPencil, IconRefresh, IconTrash, IconUpload } from '@tabler/icons-react';
import { type ReactNode, useState } from 'react';
import { Link, useNavigate, useSearchParams } from 'react-router';
import { useT } from '../../../i18n/i18n.ts';
import { DownloadAll } from '../../../objects/DownloadAll.tsx';
import { EmptyFolder } from '../../../objects/EmptyFolder.tsx';
import { FolderCrumbs } from '../../../objects/FolderCrumbs.tsx';
import { MoreRows } from '../../../objects/MoreRows.tsx';
import { ObjectPanel } from '../../../objects/ObjectPanel.tsx';
import { ObjectTable } from '../../../objects/ObjectTable.tsx';
import { isSpecial } from '../../../objects/openDownload.ts';
import { PrefixSearch } from '../../../objects/PrefixSearch.tsx';
import { previewKind } from '../../../objects/preview/previewKind.ts';
import { type Row, useFolder, useObjectAddress } from '../../../objects/useFolder.ts';
import { type Action, ActionButton } from '../../../ui/actions.tsx';
import { EmptyState } from '../../../ui/EmptyState.tsx';
import { Select } from '../../../ui/form/Select.tsx';
import { IconButton } from '../../../ui/IconButton.tsx';
import { Note } from '../../../ui/Note.tsx';
import { ListBar } from '../../../ui/table/ListBar.tsx';
import { DropZone } from '../../../uploads/DropZone.tsx';
import { UploadButton } from '../../../uploads/UploadButton.tsx';
import { UploadQueue } from '../../../uploads/UploadQueue.tsx';
import { NOT_MINE, useMayManage } from '../useContainerActions.tsx';
import { DeleteFilesDialog } from './DeleteFilesDialog.tsx';
import { FileEditor } from './FileEditor.tsx';
import { NewDialog, RenameFileDialog } from './NameDialogs.tsx';
import { useVolumeUploads } from './useVolumeUploads.tsx';
import { isUnnamed, type VolumeRef, volumeObjects } from './volumeObjects.ts';
import { placeOfContainer } from './volumeUpload.ts';

/** The files of a container's volumes: also while it is stopped. */
export function FilesTab({ container }: { container: Container }) {
  const t = useT();
  const verdict = containerCan.openFiles(container);
  if (!verdict.allowed) return <Note tone="info">{t(verdict.reason)}</Note>;
  return <Volumes container={container} />;
}

/** Which volume is shown is in the address. */
function Volumes({ container }: { container: Container }) {
  const t = useT();
  const navigate = useNavigate();
  const [params] = useSearchParams();
  const volumes = container.directoryMappings.map((mapping) => mapping.container);
  const asked = params.get('volume');
  const volume = asked !== null && volumes.includes(asked) ? asked : (volumes[0] ?? '');
  const choice = volumes.length > 1 && (
    <Select
      aria-label={t('Volume')}
      w={{ base: '100%', sm: 220 }}
      options={volumes.map((name) => ({ id: name, title: name }))}
      value={volume}
      onChange={(name) => name && void navigate(`?${new URLSearchParams({ volume: String(name) })}`)}
      data-testid="volume"
    />
  );
  return (
    <Browser key={volume} container={container} volume={volume}>
      {choice}
    </Browser>
  );
}

interface BrowserProps {
  container: Container;
  volume: string;
  children: ReactNode;
}

function Browser({ container, volume, children }: BrowserProps) {
  const t = useT();
  const navigate = useNavigate();
  const of: VolumeRef = { id: container.id, volume };
  const address = useObjectAddress(container.directoryMappings.length > 1 ? { volume } : {});
  const { folder, search } = address;
  const mayChange: Verdict = useMayManage()(container) ? yes : no(NOT_MINE);
  const refusal = mayChange.allowed ? null : t(mayChange.reason);
  const source = volumeObjects(of, mayChange.allowed ? null : mayChange.reason);
  const list = useFolder(source, folder, search);
  const { start, isLooking, question } = useVolumeUploads({ of, source, folder });
  const [making, setMaking] = useState<'folder' | 'file' | null>(null);
  const [renaming, setRenaming] = useState<string | null>(null);
  const [editing, setEditing] = useState<string | null>(null);
  const [deleting, setDeleting] = useState<readonly Row[] | null>(null);
  const [changes, setChanges] = useState(0);
  const changed = () => {
    setChanges((count) => count + 1);
    if (address.opened !== null) address.closeObject();
  };

  return (
    <DropZone target={volume + (folder && `/${folder}`)} refusal={refusal} onFiles={(files) => void start(files)}>
      <ListBar
        end={
          <>
            <IconButton label={t('Refresh')} size="s" onClick={list.refresh} aria-busy={list.refreshing}>
              <IconRefresh size={16} />
            </IconButton>
            <DownloadAll source={source} folder={folder} search={search} list={list} />
            <ActionButton
              icon={<IconFilePlus size={16} />}
              verdict={mayChange}
              testId="new-file"
              onClick={() => setMaking('file')}
            >
              {t('New file')}
            </ActionButton>
            <ActionButton
              icon={<IconFolderPlus size={16} />}
              verdict={mayChange}
              testId="new-folder"
              onClick={() => setMaking('folder')}
            >
              {t('New folder')}
            </ActionButton>
            <UploadButton refusal={refusal} loading={isLooking} onFiles={(files) => void start(files)} />
          </>
        }
      >
        {children}
        <PrefixSearch value={search} onChange={address.setSearch} />
      </ListBar>
      <FolderCrumbs
        top={volume}
        folder={folder}
        link={(prefix, name) => <Link to={address.toFolder(prefix)}>{name}</Link>}
      />
      <UploadQueue place={placeOfContainer(container.id)} />
      {/* Without rows the table says it. */}
      {list.rows && list.error && (
        <Box mb={16}>
          <Note tone="warn">{list.error}</Note>
        </Box>
      )}
      <ObjectTable
        source={source}
        folder={folder}
        search={search}
        list={list}
        changes={changes}
        linkTo={(row) => (row.kind === 'folder' ? address.toFolder(row.key) : address.toObject(row.key))}
        moreActions={actionsOf}
        bulk={[
          {
            label: t('Delete'),
            icon: <IconTrash size={14} />,
            danger: true,
            testId: 'bulk-delete',
            verdict: mayName,
            onClick: setDeleting,
          },
        ]}
        empty={
          <EmptyFolder address={address} hint={refusal ?? t('Drop files here, or press Upload.')}>
            <EmptyState icon={<IconUpload size={20} />} title={t('This volume is empty')}>
              {refusal ??
                t('Drop files or folders here, or press Upload. The container finds them in {{path}}.', {
                  path: volume,
                })}
            </EmptyState>
          </EmptyFolder>
        }
      />
      <MoreRows list={list} />
      {question}
      <ObjectPanel
        source={source}
        objectKey={address.opened}
        onClose={address.closeObject}
        buttons={(object) => (
          <>
            <ActionButton
              icon={<IconPencil size={16} />}
              verdict={mayEdit(object)}
              testId="file-edit"
              onClick={() => setEditing(object.key)}
            >
              {t('Edit')}
            </ActionButton>
            <ActionButton verdict={mayName(rowOf(object))} testId="file-rename" onClick={() => setRenaming(object.key)}>
              {t('Rename')}
            </ActionButton>
            <ActionButton
              tone="danger"
              icon={<IconTrash size={16} />}
              verdict={mayName(rowOf(object))}
              testId="file-delete"
              onClick={() => setDeleting([rowOf(object)])}
            >
              {t('Delete')}
            </ActionButton>
          </>
        )}
      />
      <NewDialog
        of={of}
        folder={folder}
        what={making}
        onClose={() => setMaking(null)}
        onMade={(key) => {
          if (key.endsWith('/')) void navigate(address.toFolder(key));
          else setEditing(key);
          setMaking(null);
        }}
      />
      <RenameFileDialog
        of={of}
        item={renaming}
        onClose={() => setRenaming(null)}
        onRenamed={() => {
          setRenaming(null);
          changed();
        }}
      />
      <FileEditor of={of} path={editing} onClose={() => setEditing(null)} />
      <DeleteFilesDialog of={of} rows={deleting} onClose={() => setDeleting(null)} onDone={changed} />
    </DropZone>
  );

  function actionsOf(row: Row): Action[] {
    const edit: Action[] =
      row.kind === 'folder'
        ? []
        : [
            {
              label: t('Edit'),
              icon: <IconPencil size={16} />,
              verdict: mayEdit(row.object),
              testId: 'action-edit',
              onClick: () => setEditing(row.key),
            },
          ];
    return [
      ...edit,
      { label: t('Rename'), verdict: mayName(row), testId: 'action-rename', onClick: () => setRenaming(row.key) },
      {
        label: t('Delete'),
        icon: <IconTrash size={16} />,
        danger: true,
        verdict: mayName(row),
        testId: 'action-delete',
        onClick: () => setDeleting([row]),
      },
    ];
  }

  /** Renaming and deleting: links and devices too, but no name that cannot be written. */
  function mayName(row: Row): Verdict {
    return mayChange.allowed && row.kind === 'object' && isUnnamed(row.object) ? no(UNNAMED) : mayChange;
  }

  function mayEdit(object: StorageObject): Verdict {
    if (isUnnamed(object)) return no(UNNAMED);
    if (!mayChange.allowed) return mayChange;
    if (isSpecial(object)) return no(NO_TEXT);
    if (object.sizeBytes > MAX_EDITED_BYTES) return no(TOO_LARGE);
    return EDITED.includes(previewKind(object.contentType, object.key)) || object.contentType === 'image/svg+xml'
      ? mayChange
      : no(NO_TEXT);
  }
}

const EDITED = ['text', 'json', 'csv'];
const rowOf = (object: StorageObject): Row => ({ kind: 'object', key: object.key, object });
const UNNAMED = text('Its name is no UTF-8 text: rename it inside the container first');
const NO_TEXT = text('Only text files can be edited here');
const TOO_LARGE = text('This file is larger than 1 MiB: download it to edit it.');
