import { type ReactNode, useState } from 'react';
import { useT } from '../i18n/i18n.ts';
import { ConfirmMany } from '../ui/ConfirmMany.tsx';

interface Words {
  title(count: number): string;
  lost: string;
}

/** Asks before an upload replaces what is there. `ask` goes on at once where nothing is. */
export function useReplaceQuestion({ title, lost }: Words): {
  ask(replaced: readonly string[], upload: () => void): void;
  question: ReactNode;
} {
  const t = useT();
  const [asked, setAsked] = useState<{ replaced: readonly string[]; upload(): void } | null>(null);
  return {
    ask(replaced, upload) {
      if (replaced.length === 0) upload();
      else setAsked({ replaced, upload });
    },
    question: (
      <ConfirmMany
        opened={asked !== null}
        onClose={() => setAsked(null)}
        onConfirm={() => {
          asked?.upload();
          setAsked(null);
        }}
        title={title(asked?.replaced.length ?? 0)}
        names={asked?.replaced ?? []}
        confirmLabel={t('Upload and replace')}
        tone="primary"
      >
        {lost}
      </ConfirmMany>
    ),
  };
}
