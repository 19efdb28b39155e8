import { CopyButton, Stack } from '@mantine/core';
import { BRAND } from '@stagi/contract/brand.ts';
import { IconCheck, IconCopy, IconDownload } from '@tabler/icons-react';
import { useUser } from '../../../api/user.ts';
import { useT } from '../../../i18n/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/dialogs/Dialog.tsx';
import { downloadText } from '../../../ui/download.ts';
import own from './security.module.css';

/** Shows new recovery codes for the only time. Neither Escape nor a press outside closes it. */
export function RecoveryCodesDialog({ codes, onClose }: { codes: readonly string[]; onClose(): void }) {
  const t = useT();
  const { profile } = useUser();
  const text = `${codes.join('\n')}\n`;
  return (
    <Dialog opened onClose={onClose} title={t('Save your recovery codes')} persistent testId="recovery-codes">
      <Stack gap={16}>
        <p className={own.text}>
          {t(
            'Each code lets you log in once if you lose your authenticator app or passkeys. They are shown only once: keep them in a safe place.',
          )}
        </p>
        <ul className={own.codes} aria-label={t('Recovery codes')}>
          {codes.map((code) => (
            <li key={code}>{code}</li>
          ))}
        </ul>
        <div className={own.buttons}>
          <Button
            color="gray"
            icon={<IconDownload size={16} />}
            data-testid="recovery-codes-download"
            onClick={() =>
              downloadText(`${BRAND.toLowerCase()}-recovery-codes.txt`, [`${BRAND} ${profile.email}\n\n`, text])
            }
          >
            {t('Download')}
          </Button>
          <CopyButton value={text} timeout={1500}>
            {({ copied, copy }) => (
              <Button color="gray" icon={copied ? <IconCheck size={16} /> : <IconCopy size={16} />} onClick={copy}>
                {copied ? t('Copied') : t('Copy')}
              </Button>
            )}
          </CopyButton>
        </div>
        <Button fullWidth onClick={onClose} data-testid="recovery-codes-kept">
          {t('I have saved them')}
        </Button>
      </Stack>
    </Dialog>
  );
}
