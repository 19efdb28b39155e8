import type { Protection } from '@stagi/contract/containerFields.ts';
import type { Container } from '@stagi/contract/containers.ts';
import { text } from '@stagi/contract/text.ts';
import { useT } from '../../i18n/i18n.ts';
import { Note } from '../../ui/Note.tsx';
import { RecreateNow } from './RecreateNow.tsx';

const LACKS: Record<Protection, string> = {
  network: text('Other containers on this server can reach all of its ports, also private ones.'),
  volumes: text(
    'A container that shares one of its volumes can have other directories of the server mounted in its place.',
  ),
};

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
        title={
          isRecreationEnough
            ? t('This container is less protected than new ones, until it is recreated')
            : t('The agent of this server is too old to protect its containers: install it again, then recreate them')
        }
        action={isRecreationEnough ? <RecreateNow container={container} /> : undefined}
      >
        {unprotected.lacks.map((one) => (
          <p key={one}>{t(LACKS[one])}</p>
        ))}
      </Note>
    </div>
  );
}
