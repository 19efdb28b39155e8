import { IconCopy, IconDownload, IconFile, IconFolder } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { Link } from 'react-router';
import { useT } from '../i18n/i18n.ts';
import { type Action, ActionMenu } from '../ui/actions.tsx';
import { CutText } from '../ui/CutText.tsx';
import { formatBytes } from '../ui/format.ts';
import { DateTime } from '../ui/Time.tsx';
import { DataTable } from '../ui/table/DataTable.tsx';
import type { BulkAction, Column } from '../ui/table/tableTypes.ts';
import { toast } from '../ui/toasts.ts';
import classes from './Objects.module.css';
import { nameIn } from './objectNames.ts';
import type { ObjectSource } from './objectSource.ts';
import { downloadFolder, downloadVerdict, openDownload } from './openDownload.ts';
import { useTypeWords } from './typeWords.ts';
import type { Row, useFolder } from './useFolder.ts';

interface Props {
  source: ObjectSource;
  folder: string;
  search: string;
  list: ReturnType<typeof useFolder>;
  /** Counts what the person has changed: its outcome is shown at once, also under the pointer. */
  changes?: number;
  linkTo(row: Row): string;
  /** What can be done to a row besides downloading it. */
  moreActions?(row: Row): readonly Action[];
  bulk?: readonly BulkAction<Row>[];
  empty: ReactNode;
}

export function ObjectTable({ source, folder, search, list, changes = 0, linkTo, moreActions, bulk, empty }: Props) {
  const t = useT();
  const typeWords = useTypeWords();
  return (
    <DataTable<Row>
      label={t('Objects')}
      name="objects"
      rowTestId="object-row"
      rows={list.rows}
      listKey={`${changes} ${folder}${search}`}
      rowKey={({ key }) => key}
      rowName={({ key }) => nameIn(folder, key)}
      rowLink={(row, cell) => <Link to={linkTo(row)}>{cell}</Link>}
      rowActions={(row) => (
        <ActionMenu
          label={t('Actions for {{title}}', { title: nameIn(folder, row.key) })}
          actions={() => actionsOf(row)}
        />
      )}
      bulk={bulk}
      columns={columns()}
      error={list.error}
      onRetry={list.refresh}
      retrying={list.refreshing}
      empty={empty}
    />
  );

  function columns(): Column<Row>[] {
    return [
      { key: 'name', title: t('Name'), cell: (row) => <Name row={row} name={nameIn(folder, row.key)} /> },
      {
        key: 'size',
        title: t('Size'),
        align: 'right',
        width: 110,
        cell: (row) =>
          row.kind === 'folder' ? '—' : <span className={classes.size}>{formatBytes(row.object.sizeBytes)}</span>,
      },
      {
        key: 'type',
        title: t('Type'),
        width: 200,
        cell: (row) => (row.kind === 'folder' ? t('Folder') : <CutText>{typeWords(row.object.contentType)}</CutText>),
      },
      {
        key: 'modified',
        title: t('Modified'),
        align: 'right',
        width: 160,
        cell: (row) => (row.kind === 'folder' ? '—' : <DateTime at={row.object.modifiedAt} />),
      },
    ];
  }

  function actionsOf(row: Row): Action[] {
    const uri = source.uri?.(row.key);
    const copy: Action[] =
      uri === undefined
        ? []
        : [
            {
              label: t('Copy the S3 URI'),
              icon: <IconCopy size={16} />,
              onClick: () =>
                void navigator.clipboard.writeText(uri).then(
                  () => toast.success(t('Copied')),
                  () => toast.error(t('The browser does not allow copying here')),
                ),
            },
          ];
    const more = moreActions?.(row) ?? [];
    const download: Action = {
      label: row.kind === 'folder' ? t('Download as ZIP') : t('Download'),
      icon: <IconDownload size={16} />,
      verdict: downloadVerdict(source, row.kind === 'object' ? row.object : null),
      testId: 'action-download',
      onClick: () => void (row.kind === 'folder' ? downloadFolder(source, row.key) : openDownload(source, row.key)),
    };
    return [download, ...copy, ...more];
  }
}

function Name({ row, name }: { row: Row; name: string }) {
  const t = useT();
  const shown = row.kind === 'folder' ? name.slice(0, -1) : name;
  return (
    <span className={classes.name}>
      {row.kind === 'folder' ? <IconFolder size={16} aria-hidden="true" /> : <IconFile size={16} aria-hidden="true" />}
      <CutText className={classes.key}>
        {shown === '' ? t('(no name)') : `${shown}${row.kind === 'folder' ? '/' : ''}`}
      </CutText>
    </span>
  );
}
