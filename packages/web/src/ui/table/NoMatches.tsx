import { IconFilterOff } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import { useT } from '../../i18n/i18n.ts';
import { Button } from '../Button.tsx';
import { EmptyState } from '../EmptyState.tsx';

interface Props {
  title: string;
  /** What else could be tried. */
  children?: ReactNode;
  onClear(): void;
}

/** A list has something, but nothing that the search and the filters let through. */
export function NoMatches({ title, children, onClear }: Props) {
  const t = useT();
  return (
    <EmptyState
      icon={<IconFilterOff size={20} />}
      title={title}
      action={
        <Button color="gray" onClick={onClear} data-testid="clear-filters">
          {t('Clear the filters')}
        </Button>
      }
    >
      {children}
    </EmptyState>
  );
}
