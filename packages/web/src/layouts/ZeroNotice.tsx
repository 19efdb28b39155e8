import { UnstyledButton } from '@mantine/core';
import { Suspense, useState } from 'react';
import { useT } from '../i18n/i18n.ts';
import { lazyPart } from '../ui/parts.ts';
import { Notice } from './Notice.tsx';
import classes from './Notices.module.css';

const ZeroDialog = lazyPart(async () => (await import('./ZeroDialog.tsx')).ZeroDialog);

/** While the balance is used up; with a credit that does not reach for all of it, the way to choose. */
export function ZeroNotice({ isZero, mayStart }: { isZero: boolean; mayStart: boolean }) {
  const t = useT();
  const [choosing, setChoosing] = useState(false);
  const detail = t('Servers were stopped and running tasks canceled; their data is kept for 14 days.');
  if (isZero)
    return <Notice title={t('You have no STAGI left. All your instances and tasks are paused.')} detail={detail} />;
  return (
    <>
      <Notice
        title={t('Your balance does not cover an hour of everything that was paused.')}
        detail={detail}
        action={
          mayStart && (
            <UnstyledButton className={classes.action} onClick={() => setChoosing(true)} data-testid="zero-choose">
              {t('Choose what starts again')}
            </UnstyledButton>
          )
        }
      />
      {choosing && (
        <Suspense fallback={null}>
          <ZeroDialog opened onClose={() => setChoosing(false)} />
        </Suspense>
      )}
    </>
  );
}
