import { Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import type { Storage } from '@stagi/contract/storages.ts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { errorText } from '../../../api/messages.ts';
import { invalidate, q } from '../../../api/query.ts';
import { useCall } from '../../../api/useCall.ts';
import { useT } from '../../../i18n/i18n.ts';
import { personName } from '../../../i18n/personName.ts';
import { Button } from '../../../ui/Button.tsx';
import { CodeBlock } from '../../../ui/CodeBlock.tsx';
import { CutText } from '../../../ui/CutText.tsx';
import { Dialog } from '../../../ui/dialogs/Dialog.tsx';
import { ErrorState } from '../../../ui/ErrorState.tsx';
import { Select } from '../../../ui/form/Select.tsx';
import { PanelSkeleton } from '../../../ui/Skeletons.tsx';
import { DateTime } from '../../../ui/Time.tsx';
import { toast } from '../../../ui/toasts.ts';
import classes from './Objects.module.css';

/** Makes a link to one object; the address is shown once, as it is stored nowhere. */
export function ShareObject({ storage, objectKey }: { storage: Storage; objectKey: string }) {
  const t = useT();
  const [hours, setHours] = useState(24);
  const [link, setLink] = useState<string | null>(null);
  const { run, loading } = useCall(api.sharing.createShareLink, {
    onDone({ entity }) {
      setLink(entity.link);
      void invalidate('storage/share-link/');
    },
  });
  const options = [
    { value: 1, label: t('1 hour') },
    { value: 24, label: t('24 hours') },
    { value: 168, label: t('7 days') },
    { value: 720, label: t('30 days') },
  ];
  return (
    <Stack gap={12}>
      <div className={classes.buttons}>
        <Select<(typeof options)[number], number>
          aria-label={t('The link works for')}
          options={options}
          value={hours}
          onChange={(next) => setHours(next ?? 24)}
          w={140}
          data-testid="share-hours"
        />
        <Button
          color="gray"
          loading={loading}
          onClick={() => void run({ id: storage.id, key: objectKey, expiresInHours: hours })}
          data-testid="share-create"
        >
          {t('Create a link')}
        </Button>
      </div>
      {link !== null && (
        <div data-testid="share-link">
          <CodeBlock code={link} wrap title={t('Copy it now: it is shown only once')} />
        </div>
      )}
      <ShareLinkList storage={storage} objectKey={objectKey} />
    </Stack>
  );
}

export function ShareLinksDialog({ storage, opened, onClose }: { storage: Storage; opened: boolean; onClose(): void }) {
  const t = useT();
  return (
    <Dialog opened={opened} onClose={onClose} title={t('Links to objects')} size="m" testId="share-links">
      <p className="muted">{t('Whoever has a link can read its object without an account until it expires.')}</p>
      <ShareLinkList
        storage={storage}
        empty={t('No links work at the moment. Create one in the panel of an object.')}
      />
    </Dialog>
  );
}

const LISTED = 100;

interface ListProps {
  storage: Storage;
  /** Left out: those of the whole storage. */
  objectKey?: string;
  empty?: string;
}

function ShareLinkList({ storage, objectKey, empty }: ListProps) {
  const t = useT();
  const input = {
    id: storage.id,
    key: objectKey,
    entityFilterRequest: { page: 1, limit: LISTED, orderByField: 'createdAt', orderByDirection: 'desc' as const },
  };
  const { data, error, refetch, isFetching } = useQuery(q(api.sharing.shareLinks, input, { quiet: true }));
  const revoke = useCall(api.sharing.revokeShareLink, {
    onDone() {
      toast.success(t('The link has been revoked'));
      void invalidate('storage/share-link/');
    },
  });
  if (error && !data)
    return <ErrorState message={errorText(error)} onRetry={() => void refetch()} retrying={isFetching} />;
  if (!data) return <PanelSkeleton rows={2} />;
  if (data.entities.length === 0) return empty ? <p>{empty}</p> : null;
  const more = data.totalCount - data.entities.length;
  return (
    <>
      <ul className={classes.links} aria-label={t('Links that work')}>
        {data.entities.map((link) => (
          <li key={link.id} data-testid="share-row">
            <div>
              {objectKey === undefined && <CutText className={`mono ${classes.key}`}>{link.key}</CutText>}
              <div className="muted">
                {t('until')} <DateTime at={link.expiresAt} />
                {link.createdBy !== null && ` · ${personName(t, link.createdBy)}`}
              </div>
            </div>
            <Button
              color="danger"
              look="soft"
              size="xxs"
              disabled={revoke.loading}
              onClick={() => void revoke.run({ id: storage.id, shareLinkId: link.id })}
            >
              {t('Revoke')}
            </Button>
          </li>
        ))}
      </ul>
      {more > 0 && <p className="muted">{t('and {{count}} more', { count: more })}</p>}
    </>
  );
}
