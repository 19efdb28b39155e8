import { UnstyledButton } from '@mantine/core';
import type { Balance } from '@stagi/contract/billing.ts';
import type { Permission } from '@stagi/contract/permissions.ts';
import { ROUTES } from '@stagi/contract/routes.ts';
import { Suspense, useState } from 'react';
import { Link, useLocation } from 'react-router';
import { useT } from '../i18n/i18n.ts';
import { lazyComponent } from '../lazyChunks.ts';
import { formatDate } from '../ui/format.ts';
import { Notice } from './Notice.tsx';
import classes from './Notices.module.css';

const ZeroBalanceDialog = lazyComponent(async () => (await import('./ZeroBalanceDialog.tsx')).ZeroBalanceDialog);

interface Props {
  balance: Balance;
  permissions: readonly Permission[];
}

/** While the balance is used up: what was stopped, and what is read-only. With a credit that does not cover all of it, a button to choose. */
export function ZeroBalanceNotice({ balance, permissions }: Props) {
  const t = useT();
  const [opened, setOpened] = useState(false);
  const isZero = Number(balance.clientBalance.STAGI.decimalValue) === 0;
  const isCredited = !isZero && (balance.zero?.credited ?? true);
  // What is left of a reserve starts nothing by itself, and may be spent.
  const mayChoose = !isZero && (balance.zero?.kept ?? 1) > 0;
  const detail = useDetail(balance.zero, isCredited);
  const mayStart = permissions.includes('INSTANCE_RENTED_MANAGEMENT');
  const open = (label: string, testId: string) =>
    mayStart && (
      <UnstyledButton className={classes.action} onClick={() => setOpened(true)} data-testid={testId}>
        {label}
      </UnstyledButton>
    );
  return (
    <>
      <Notice
        title={
          isZero
            ? t('You have no STAGI left. All your instances and tasks are paused.')
            : isCredited
              ? t('Your balance does not cover an hour of everything that was paused.')
              : t('Your balance came down to the reserve of servers that cannot be stopped.')
        }
        detail={detail}
        action={
          mayChoose ? (
            open(t('Choose what to restart'), 'zero-choose')
          ) : (
            <>
              {open(t('Show what was stopped'), 'zero-see')}
              <AddToBalance permissions={permissions} />
            </>
          )
        }
      />
      {opened && (
        <Suspense fallback={null}>
          <ZeroBalanceDialog opened onClose={() => setOpened(false)} />
        </Suspense>
      )}
    </>
  );
}

/** The details of a zero balance: what is kept until when, what is lost. */
function useDetail(zero: Balance['zero'], isCredited: boolean): string {
  const t = useT();
  if (!zero) return '';
  const when = formatDate(zero.keptUntil);
  const isOver = new Date(zero.keptUntil).getTime() <= Date.now();
  return [
    t('Servers were stopped and running tasks canceled.'),
    ...(!isCredited && zero.kept > 0
      ? [t('{{count}} stopped servers are kept with their data until {{when}}.', { count: zero.kept, when })]
      : []),
    ...(!isCredited && zero.storages > 0
      ? [t('{{count}} storages are read-only and kept until {{when}}.', { count: zero.storages, when })]
      : []),
    ...(zero.kept + zero.storages === 0 && isOver
      ? [t('Stopped servers and storages were kept for 14 days and then deleted.')]
      : []),
    ...(zero.lost > 0
      ? [t('{{count}} servers that cannot be stopped were terminated; the data on them is lost.', { count: zero.lost })]
      : []),
  ].join(' ');
}

function AddToBalance({ permissions }: Pick<Props, 'permissions'>) {
  const t = useT();
  const { pathname } = useLocation();
  if (!permissions.includes('BILLING') || pathname === ROUTES.balance.path) return null;
  return (
    <Link className={classes.action} to={ROUTES.balance.path}>
      {t('Add funds')}
    </Link>
  );
}
