import { Suspense, useState } from 'react';
import { useT } from '../../i18n/i18n.ts';
import { lazyComponent } from '../../lazyChunks.ts';
import { Button } from '../../ui/Button.tsx';
import classes from './AccountPage.module.css';

/** Loaded when first opened. */
const DeleteAccountDialog = lazyComponent(async () => (await import('./DeleteAccountDialog.tsx')).DeleteAccountDialog);

export function DeleteAccountSection() {
  const t = useT();
  const [opened, setOpened] = useState(false);
  const [used, setUsed] = useState(false);
  return (
    <section className={classes.section}>
      <h2>{t('Delete account')}</h2>
      <div className={classes.fields}>
        <p className={classes.lead}>
          {t('Your account and everything only you own are permanently deleted. You see a list first.')}
        </p>
        <div>
          <Button
            color="danger"
            data-testid="account-delete"
            onClick={() => {
              setUsed(true);
              setOpened(true);
            }}
          >
            {t('Delete account')}
          </Button>
        </div>
      </div>
      {used && (
        <Suspense>
          <DeleteAccountDialog opened={opened} onClose={() => setOpened(false)} />
        </Suspense>
      )}
    </section>
  );
}
