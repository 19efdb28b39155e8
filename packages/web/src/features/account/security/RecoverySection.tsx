import { api } from '@stagi/contract/api.ts';
import { useState } from 'react';
import { useCall } from '../../../api/useCall.ts';
import { useT } from '../../../i18n/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { ConfirmDialog } from '../../../ui/dialogs/ConfirmDialog.tsx';
import { Note } from '../../../ui/Note.tsx';
import classes from '../AccountPage.module.css';
import { RecoveryCodesDialog } from './RecoveryCodesDialog.tsx';
import { refetchFactors } from './refetchFactors.ts';
import own from './security.module.css';

const FEW = 3;

/** Recovery codes, for somebody who lost their second factors. */
export function RecoverySection({ left }: { left: number }) {
  const t = useT();
  const [asking, setAsking] = useState(false);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const make = useCall(api.secondFactor.recoveryCodes, {
    onDone: ({ recoveryCodes }) => {
      setAsking(false);
      setCodes(recoveryCodes);
      refetchFactors();
    },
  });
  return (
    <section className={classes.section} aria-labelledby="recovery">
      <h2 id="recovery">{t('Recovery codes')}</h2>
      <div className={classes.fields}>
        <div>
          <div>{t('{{count}} codes are left', { count: left })}</div>
          <p className={`${classes.hint} ${own.text} ${own.below}`}>
            {t('Each code lets you log in once without your authenticator app or passkey.')}
          </p>
        </div>
        {left <= FEW && <Note tone="warn">{t('Generate new ones before you run out.')}</Note>}
        <div>
          <Button color="gray" onClick={() => setAsking(true)} data-testid="recovery-codes-new">
            {t('Generate new codes')}
          </Button>
        </div>
      </div>
      <ConfirmDialog
        opened={asking}
        onClose={() => setAsking(false)}
        onConfirm={() => void make.run({})}
        title={t('Generate new recovery codes?')}
        confirmLabel={t('Generate new codes')}
        loading={make.loading}
      >
        {t('Your current codes will stop working.')}
      </ConfirmDialog>
      {codes && <RecoveryCodesDialog codes={codes} onClose={() => setCodes(null)} />}
    </section>
  );
}
