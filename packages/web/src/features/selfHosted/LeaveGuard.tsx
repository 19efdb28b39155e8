import { useEffect } from 'react';
import { useBlocker } from 'react-router';
import { useT } from '../../i18n/i18n.ts';
import { ConfirmDialog } from '../../ui/dialogs/ConfirmDialog.tsx';

/** Asks before the page with the file is left, by a link, by Back or by closing the tab. */
export function LeaveGuard({ active }: { active: boolean }) {
  const t = useT();
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) =>
      active && currentLocation.pathname + currentLocation.search !== nextLocation.pathname + nextLocation.search,
  );
  useEffect(() => {
    if (!active) return;
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [active]);

  return (
    <ConfirmDialog
      opened={blocker.state === 'blocked'}
      onClose={() => blocker.reset?.()}
      onConfirm={() => blocker.proceed?.()}
      title={t('The server has not joined yet')}
      confirmLabel={t('Leave')}
    >
      {t(
        'The enrolment file and the line are shown only once. If you have not used them, “Reissue token” on the page of the server makes new ones.',
      )}
    </ConfirmDialog>
  );
}
