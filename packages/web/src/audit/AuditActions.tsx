import { IconDownload, IconShieldCheck } from '@tabler/icons-react';
import { useT } from '../i18n/i18n.ts';
import { ActionButton } from '../ui/actions.tsx';

interface Act {
  running: boolean;
  run(): void;
}

/** What can be done with a whole log. */
export function AuditActions({ verifying, exporting }: { verifying: Act; exporting: Act }) {
  const t = useT();
  return (
    <>
      <ActionButton
        icon={<IconShieldCheck size={16} />}
        testId="audit-verify"
        loading={verifying.running}
        onClick={verifying.run}
      >
        {t('Check the chain')}
      </ActionButton>
      <ActionButton
        icon={<IconDownload size={16} />}
        testId="audit-export"
        loading={exporting.running}
        onClick={exporting.run}
      >
        {t('Export as CSV')}
      </ActionButton>
    </>
  );
}
