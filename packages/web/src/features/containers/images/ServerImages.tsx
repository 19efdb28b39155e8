import { Anchor, Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { type ImageOperation, imageCan, type ServerImage } from '@stagi/contract/serverImages.ts';
import { text } from '@stagi/contract/text.ts';
import { no, type Verdict } from '@stagi/contract/verdict.ts';
import { IconEraser, IconStack2, IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { Link } from 'react-router';
import { call } from '../../../api/client.ts';
import { errorText } from '../../../api/messages.ts';
import type { ServerContainersProps } from '../../../featureSlots.ts';
import { useT } from '../../../i18n/i18n.ts';
import { useRowActions } from '../../../lists/useRowActions.tsx';
import { paths } from '../../../paths.ts';
import { ActionButton, ActionMenu } from '../../../ui/actions.tsx';
import { EmptyState } from '../../../ui/EmptyState.tsx';
import { formatDecimalBytes } from '../../../ui/format.ts';
import { DateTime } from '../../../ui/Time.tsx';
import { DataTable } from '../../../ui/table/DataTable.tsx';
import { ListBar } from '../../../ui/table/ListBar.tsx';
import type { Column, Sort } from '../../../ui/table/tableTypes.ts';
import { LastOperation } from './LastOperation.tsx';
import { PruneDialog } from './PruneDialog.tsx';
import classes from './ServerImages.module.css';
import { isWaiting, useServerImages } from './useServerImages.ts';

/** The images of one server, for its own page. */
export function ServerImages({ server }: ServerContainersProps) {
  const t = useT();
  const { data, error, refetch, isFetching } = useServerImages(server.id);
  const [sort, setSort] = useState<Sort>({ field: 'sizeBytes', direction: 'desc' });
  const [pruning, setPruning] = useState(false);
  const operations = data?.operations ?? [];
  const actions = useImageActions(server, operations);
  const images = data?.entities.toSorted(by(sort));
  return (
    <Stack gap={16}>
      <LastOperation operations={operations} />
      <div>
        <ListBar
          end={
            <ActionButton
              icon={<IconEraser size={16} />}
              testId="images-prune"
              verdict={pruneVerdict(server, images)}
              onClick={() => setPruning(true)}
            >
              {t('Remove unused images')}
            </ActionButton>
          }
        >
          {images && images.length > 0 && (
            <span className="muted">
              {t('Images share layers: together they take less than the sum of their sizes.')}
            </span>
          )}
        </ListBar>
        <DataTable
          label={t('Images')}
          rows={images}
          columns={columns()}
          rowKey={({ reference }) => reference}
          rowName={({ reference }) => reference}
          rowTestId="image-row"
          rowActions={(image) => (
            <ActionMenu
              label={t('Actions for {{title}}', { title: image.reference })}
              actions={() => actions.of(image)}
            />
          )}
          sort={sort}
          onSort={setSort}
          error={error && errorText(error)}
          onRetry={() => void refetch()}
          retrying={isFetching}
          empty={
            <EmptyState icon={<IconStack2 size={20} />} title={t('No images yet')}>
              {t('The image of a container is pulled when it is created, and stays for the next one.')}
            </EmptyState>
          }
        />
      </div>
      {actions.dialog}
      {pruning && <PruneDialog server={server} onClose={() => setPruning(false)} />}
    </Stack>
  );

  function columns(): Column<ServerImage>[] {
    return [
      {
        key: 'reference',
        title: t('Image'),
        sortBy: 'reference',
        width: '50%',
        // Whole: its end, the tag, tells it from others.
        cell: ({ reference }) => <span className={`mono ${classes.reference}`}>{reference}</span>,
      },
      {
        key: 'sizeBytes',
        title: t('Size'),
        sortBy: 'sizeBytes',
        align: 'right',
        cell: ({ sizeBytes }) => <span className={`mono ${classes.figure}`}>{formatDecimalBytes(sizeBytes)}</span>,
      },
      {
        key: 'usedBy',
        title: t('Used by'),
        cell: ({ usedBy: [first, ...others] }) =>
          first ? (
            <>
              <Anchor component={Link} to={paths.container(first.id)} fz="inherit">
                {first.title}
              </Anchor>
              {others.length > 0 && <span className="muted"> +{others.length}</span>}
            </>
          ) : (
            <span className="muted">—</span>
          ),
      },
      {
        key: 'createdAt',
        title: t('Made'),
        sortBy: 'createdAt',
        align: 'right',
        cell: ({ createdAt }) => (
          <span className={classes.figure}>
            {createdAt ? <DateTime at={createdAt} /> : <span className="muted">—</span>}
          </span>
        ),
      },
    ];
  }
}

function useImageActions(server: ServerContainersProps['server'], operations: readonly ImageOperation[]) {
  const t = useT();
  const doomed = new Set(operations.filter(isWaiting).map(({ reference }) => reference));
  return useRowActions<ServerImage>(
    [
      {
        name: 'remove',
        label: t('Remove'),
        icon: IconTrash,
        danger: true,
        can: (image) => removeVerdict(server, image, doomed),
        perform: ({ reference }, options) =>
          call(api.serverImages.remove, { instanceRef: { id: server.id }, reference }, options),
        confirm: ({ reference }) => ({
          title: t('Remove the image {{reference}}?', { reference }),
          text: t('The next container that is made of it has to pull it again.'),
        }),
      },
    ],
    ['docker-container/image/'],
  );
}

const IN_REMOVAL = text('It is being removed');

function removeVerdict(server: { status: string }, image: ServerImage, doomed: ReadonlySet<string | null>): Verdict {
  const can = imageCan.change(server);
  if (!can.allowed) return can;
  return doomed.has(image.reference) ? no(IN_REMOVAL) : imageCan.remove(image);
}

function pruneVerdict(server: { status: string }, images: readonly ServerImage[] | undefined): Verdict {
  const can = imageCan.change(server);
  if (!can.allowed || !images) return can;
  return images.some((image) => imageCan.remove(image).allowed)
    ? can
    : no(text('There is no image that can be removed'));
}

function by({ field, direction }: Sort): (a: ServerImage, b: ServerImage) => number {
  const sign = direction === 'asc' ? 1 : -1;
  return (a, b) => {
    const order =
      field === 'sizeBytes'
        ? a.sizeBytes - b.sizeBytes
        : field === 'createdAt'
          ? (a.createdAt ?? '').localeCompare(b.createdAt ?? '')
          : a.reference.localeCompare(b.reference);
    return sign * order || a.reference.localeCompare(b.reference);
  };
}
