import { api } from '@stagi/contract/api.ts';
import type { ApiToken } from '@stagi/contract/apiTokens.ts';
import { invalidate } from '../../api/query.ts';
import { useBulkCall } from '../../api/useBulkCall.ts';
import { useCall } from '../../api/useCall.ts';
import { useT } from '../../i18n/i18n.ts';
import { ConfirmMany } from '../../ui/ConfirmMany.tsx';
import { ConfirmDialog } from '../../ui/dialogs/ConfirmDialog.tsx';
import { toast } from '../../ui/toasts.ts';

export function ArchiveToken({ token, onClose }: { token: ApiToken | null; onClose(): void }) {
  const t = useT();
  const { run, loading } = useCall(api.apiTokens.archive, {
    onDone: () => {
      void invalidate('api-token/');
      toast.success(t('The token has been archived'));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      variant="error"
      opened={token !== null}
      onClose={onClose}
      onConfirm={() => token && void run({ id: token.id })}
      title={t('Archive the token “{{title}}”?', { title: token?.description ?? '' })}
      confirmLabel={t('Archive it')}
      loading={loading}
    >
      {t('Programs that use it are refused at once and for ever, and what they follow live ends.')}
    </ConfirmDialog>
  );
}

interface ManyProps {
  tokens: readonly ApiToken[];
  opened: boolean;
  onClose(): void;
}

export function ArchiveTokens({ tokens, opened, onClose }: ManyProps) {
  const t = useT();
  const archive = useBulkCall(api.apiTokens.archive, {
    touches: ['api-token/'],
    said: (count) => t('{{count}} tokens have been archived', { count }),
  });

  async function confirm(): Promise<void> {
    await archive.run(tokens.map(({ id }) => ({ id })));
    onClose();
  }

  return (
    <ConfirmMany
      opened={opened}
      onClose={onClose}
      onConfirm={() => void confirm()}
      loading={archive.loading}
      title={t('Archive {{count}} tokens?', { count: tokens.length })}
      confirmLabel={t('Archive it')}
      names={tokens.map(({ description }) => description)}
    >
      {t('Programs that use them are refused at once and for ever, and what they follow live ends.')}
    </ConfirmMany>
  );
}
