import { Skeleton, Stack } from '@mantine/core';
import { api } from '@stagi/contract/api.ts';
import { useEffect, useRef, useState } from 'react';
import { invalidate } from '../../../api/query.ts';
import { useCall } from '../../../api/useCall.ts';
import { useT } from '../../../i18n/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/dialogs/Dialog.tsx';
import { DialogButtons } from '../../../ui/dialogs/DialogButtons.tsx';
import { Form } from '../../../ui/form/Form.tsx';
import { formatDecimalBytes } from '../../../ui/format.ts';
import { Note } from '../../../ui/Note.tsx';
import classes from './PruneDialog.module.css';
import { useServerImages } from './useServerImages.ts';

interface Props {
  server: { id: number };
  onClose(): void;
}

/** Asks the server first what would go and what that frees. */
export function PruneDialog({ server, onClose }: Props) {
  const t = useT();
  return (
    <Dialog opened onClose={onClose} title={t('Remove unused images')} withClose={false}>
      <Question server={server} onClose={onClose} />
    </Dialog>
  );
}

function Question({ server, onClose }: Props) {
  const t = useT();
  const { data } = useServerImages(server.id);
  const [asked, setAsked] = useState<string | null>(null);
  const hasBegun = useRef(false);
  const preview = useCall(api.serverImages.prune, {
    onDone: ({ operation }) => {
      setAsked(operation.id);
      void invalidate('docker-container/image/');
    },
  });
  const prune = useCall(api.serverImages.prune, {
    onDone: () => {
      void invalidate('docker-container/image/');
      onClose();
    },
  });
  const ask = () => void preview.run({ instanceRef: { id: server.id }, dryRun: true });
  useEffect(() => {
    if (hasBegun.current) return;
    hasBegun.current = true;
    ask();
  });
  const answer = data?.operations.find(({ id }) => id === asked);
  const failed = preview.error !== null || answer?.state === 'refused' || answer?.state === 'expired';
  const isReady = answer?.state === 'done' && answer.references.length > 0;
  return (
    <Form
      onSubmit={(event) => {
        event.preventDefault();
        if (isReady) void prune.run({ instanceRef: { id: server.id }, dryRun: false });
      }}
    >
      <Stack gap={16}>
        {failed ? (
          <Note
            tone="bad"
            title={t('The server did not say what would be removed')}
            action={
              <Button
                size="xs"
                color="gray"
                onClick={() => {
                  setAsked(null);
                  ask();
                }}
              >
                {t('Try again')}
              </Button>
            }
          >
            {answer?.message && t(answer.message)}
          </Note>
        ) : answer?.state === 'done' ? (
          <Found references={answer.references} bytes={answer.freedBytes ?? 0} />
        ) : (
          <Skeleton height={80} aria-busy="true" aria-label={t('The server is asked what would be removed')} />
        )}
        <DialogButtons
          onCancel={onClose}
          submitLabel={t('Remove')}
          danger
          disabled={!isReady}
          loading={prune.loading}
          testId="prune-submit"
        />
      </Stack>
    </Form>
  );
}

function Found({ references, bytes }: { references: readonly string[]; bytes: number }) {
  const t = useT();
  if (references.length === 0) return <div>{t('There is no image that can be removed')}</div>;
  return (
    <>
      <div data-testid="prune-frees">
        {t('This frees about {{size}}. Containers that need one of these later have to pull it again.', {
          size: formatDecimalBytes(bytes),
        })}
      </div>
      <ul className={classes.list}>
        {references.map((reference) => (
          <li key={reference}>{reference}</li>
        ))}
      </ul>
    </>
  );
}
