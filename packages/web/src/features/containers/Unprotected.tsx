import type { Container } from '@stagi/contract/containers.ts';
import { useT } from '../../i18n/i18n.ts';
import { Note } from '../../ui/Note.tsx';
import { RecreateNow } from './RecreateNow.tsx';

/** From what a container is not protected, and what ends that. */
export function Unprotected({ container }: { container: Container }) {
  const t = useT();
  const { unprotected, task } = container;
  // The container of a run ends by itself, and the next is protected.
  if (!unprotected || task) return null;
  const isRecreationEnough = unprotected.until === 'recreated';
  return (
    <div data-testid="container-unprotected">
      <Note
        tone="warn"
        title={t('Other containers on this server can reach all ports of this one')}
        action={isRecreationEnough ? <RecreateNow container={container} /> : undefined}
      >
        {isRecreationEnough
          ? t('Also private ports, and those that are not listed, until the container is recreated.')
          : t(
              'The agent of this server is too old to keep its containers apart. Install it again, then recreate the container.',
            )}
      </Note>
    </div>
  );
}
