import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { IconFile, IconFolder } from '@tabler/icons-react';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../../api/client.ts';
import { errorText } from '../../../api/messages.ts';
import { useT } from '../../../i18n/i18n.ts';
import { FolderCrumbs } from '../../../objects/FolderCrumbs.tsx';
import { nameIn, parentOf } from '../../../objects/objectNames.ts';
import { Button } from '../../../ui/Button.tsx';
import { CutText } from '../../../ui/CutText.tsx';
import { Dialog } from '../../../ui/dialogs/Dialog.tsx';
import { ErrorState } from '../../../ui/ErrorState.tsx';
import { formatBytes } from '../../../ui/format.ts';
import { PanelSkeleton } from '../../../ui/Skeletons.tsx';
import classes from './Picker.module.css';

interface Props {
  storage: { id: number; slug: string };
  opened: boolean;
  onClose(): void;
  /** A key or a folder: its folder is shown first. */
  startsAt: string;
  /** With the key of an object, or the prefix of a folder. */
  onChoose(key: string): void;
}

/** The objects of a storage, to choose one or a folder of them. */
export function ObjectPicker({ opened, onClose, ...browser }: Props) {
  const t = useT();
  return (
    <Dialog opened={opened} onClose={onClose} title={t('Choose the input')} size="m" testId="object-picker">
      <Browser {...browser} />
    </Dialog>
  );
}

function Browser({ storage, startsAt, onChoose }: Omit<Props, 'opened' | 'onClose'>) {
  const t = useT();
  const [folder, setFolder] = useState(startsAt.endsWith('/') ? startsAt : parentOf(startsAt));
  const input = { id: storage.id, prefix: folder };
  const { data, error, refetch, isFetching, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: [api.storages.objects.path, input],
    queryFn: ({ pageParam, signal }) =>
      call(api.storages.objects, { ...input, after: pageParam }, { quiet: true, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ next }) => next ?? undefined,
  });
  const folders = data?.pages.flatMap((page) => page.folders) ?? [];
  // The empty object that stands for the folder itself is not shown inside it.
  const objects = data?.pages.flatMap((page) => page.objects).filter(({ key }) => key !== folder) ?? [];
  return (
    <Stack gap={12}>
      <div>
        <FolderCrumbs
          top={storage.slug}
          folder={folder}
          link={(prefix, name) => (
            <button type="button" className={classes.crumb} onClick={() => setFolder(prefix)}>
              {name}
            </button>
          )}
        />
        {list()}
      </div>
      <div className={classes.foot}>
        <span>
          {hasNextPage && (
            <Button color="gray" size="xs" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
              {t('Load more')}
            </Button>
          )}
        </span>
        <Button reason={refusal()} onClick={() => onChoose(folder)} data-autofocus data-testid="object-picker-folder">
          {t('Use this folder')}
        </Button>
      </div>
    </Stack>
  );

  function refusal(): string | null {
    if (folder === '') return t('Open a folder, or choose an object');
    return data && folders.length === 0 && objects.length === 0 ? t('This folder is empty') : null;
  }

  function list() {
    if (!data)
      return error ? (
        <ErrorState message={errorText(error)} onRetry={() => void refetch()} retrying={isFetching} />
      ) : (
        <PanelSkeleton rows={6} />
      );
    return (
      <ul className={classes.rows}>
        {folders.map((key) => (
          <li key={key}>
            <button
              type="button"
              className={classes.row}
              onClick={() => setFolder(key)}
              data-testid="object-picker-open"
            >
              <IconFolder size={16} aria-hidden="true" />
              <CutText
                className={`${classes.what} ${classes.key}`}
              >{`${shown(nameIn(folder, key).slice(0, -1))}/`}</CutText>
            </button>
          </li>
        ))}
        {objects.map(({ key, sizeBytes }) => (
          <li key={key}>
            <button
              type="button"
              className={classes.row}
              aria-pressed={key === startsAt}
              onClick={() => onChoose(key)}
              data-testid="object-picker-object"
            >
              <IconFile size={16} aria-hidden="true" />
              <CutText className={`${classes.what} ${classes.key}`}>{nameIn(folder, key)}</CutText>
              <span className={classes.hash}>{formatBytes(sizeBytes)}</span>
            </button>
          </li>
        ))}
        {folders.length === 0 && objects.length === 0 && (
          <li className={classes.row}>{folder === '' ? t('No objects yet') : t('This folder is empty')}</li>
        )}
      </ul>
    );
  }

  /** Between two slashes there is a folder without a name. */
  function shown(name: string): string {
    return name === '' ? t('(no name)') : name;
  }
}
