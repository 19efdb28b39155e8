import { api } from '@stagi/contract/api.ts';
import { lazy, Suspense, useState } from 'react';
import { useCall } from '../../../api/useCall.ts';
import { useT } from '../../../i18n/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { ConfirmDialog } from '../../../ui/dialogs/ConfirmDialog.tsx';
import { Tag } from '../../../ui/Tag.tsx';
import { DateTime } from '../../../ui/Time.tsx';
import { toast } from '../../../ui/toasts.ts';
import classes from '../AccountPage.module.css';
import { lastFactorText } from './lastFactorText.ts';
import { refetchFactors } from './refetchFactors.ts';
import own from './security.module.css';

const TotpDialog = lazy(async () => ({ default: (await import('./TotpDialog.tsx')).TotpDialog }));

interface Props {
  /** When the app in use was confirmed; null: there is none. */
  since: string | null;
  isOnlyFactor: boolean;
}

/** An app that shows a new code every 30 seconds. */
export function TotpSection({ since, isOnlyFactor }: Props) {
  const t = useT();
  const [begun, setBegun] = useState<{ secret: string; uri: string } | null>(null);
  const [removing, setRemoving] = useState(false);
  const begin = useCall(api.secondFactor.totpBegin, { onDone: setBegun });
  const remove = useCall(api.secondFactor.totpRemove, {
    onDone: () => {
      setRemoving(false);
      refetchFactors();
      toast.success(t('The authenticator app has been removed'));
    },
  });
  return (
    <section className={classes.section} aria-labelledby="totp">
      <h2 id="totp">{t('Authenticator app')}</h2>
      <div className={classes.fields}>
        <div>
          {since === null ? (
            <Tag>{t('Off')}</Tag>
          ) : (
            <span className={own.state}>
              <Tag color="primary">{t('On')}</Tag>
              <span className={classes.hint}>
                {t('Since')} <DateTime at={since} />
              </span>
            </span>
          )}
          <p className={`${classes.hint} ${own.text} ${own.below}`}>
            {t('An app on your phone that shows a new code every 30 seconds. You are asked for one when you log in.')}
          </p>
        </div>
        <div className={own.buttons}>
          <Button color="gray" loading={begin.loading} onClick={() => void begin.run({})} data-testid="totp-begin">
            {since === null ? t('Set up an app') : t('Change the app')}
          </Button>
          {since !== null && (
            <Button color="danger" look="soft" onClick={() => setRemoving(true)} data-testid="totp-remove">
              {t('Remove')}
            </Button>
          )}
        </div>
      </div>
      {begun && (
        <Suspense>
          <TotpDialog {...begun} onClose={() => setBegun(null)} />
        </Suspense>
      )}
      <ConfirmDialog
        variant="error"
        opened={removing}
        onClose={() => setRemoving(false)}
        onConfirm={() => void remove.run({})}
        title={t('Remove the authenticator app?')}
        confirmLabel={t('Remove')}
        loading={remove.loading}
      >
        {isOnlyFactor ? lastFactorText(t) : t('You will no longer be asked for its codes.')}
      </ConfirmDialog>
    </section>
  );
}
