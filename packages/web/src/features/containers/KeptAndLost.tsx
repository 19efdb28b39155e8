import type { Container } from '@stagi/contract/containers.ts';
import { text } from '@stagi/contract/text.ts';
import { useT } from '../../i18n/i18n.ts';

/** What recreating a container keeps and loses, and what becomes of it then. */
export function KeptAndLost({ container }: { container: Container }) {
  const t = useT();
  return (
    <>
      <p>
        {t('Kept: its Unique ID and address, its volumes and its logs.')}{' '}
        {t('Lost: files in the container outside its volumes, and the processes that run in it.')}
      </p>
      <p>{t(NEXT[container.status] ?? STAYS_STOPPED)}</p>
    </>
  );
}

const GOES_ON = text(
  'The new image is pulled first. Until then, and if that fails, the container goes on running as it is.',
);
const STAYS_STOPPED = text('The container stays stopped. Start it when the change is applied.');
const NEXT: Partial<Record<Container['status'], string>> = {
  running: GOES_ON,
  rebooting: GOES_ON,
  failed: text(
    'If it could not be started, it is started again. If it ran and ended, start it when the change is applied.',
  ),
};
