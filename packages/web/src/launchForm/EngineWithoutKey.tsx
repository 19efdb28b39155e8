import type { KeylessEngine } from '@stagi/contract/keylessEngine.ts';
import { useT } from '../i18n/i18n.ts';
import { Note } from '../ui/Note.tsx';

/** Beside what makes a port public: an engine that asks nobody for a key answers there. */
export function EngineWithoutKey({ engine }: { engine: KeylessEngine | null }) {
  const t = useT();
  if (!engine) return null;
  const { title, remedy } = engine;
  return (
    <div data-testid="engine-without-key">
      <Note tone="warn">
        {remedy === null
          ? t(
              'Anybody who knows the address can use this model: {{engine}} takes no key. Keep the port private, or put a program in front of it that asks for one.',
              { engine: t(title) },
            )
          : t(
              'Anybody who knows the address can use this model: {{engine}} runs without a key. Keep the port private, or set {{remedy}}.',
              { engine: t(title), remedy },
            )}
      </Note>
    </div>
  );
}
