import type { ComponentProps } from 'react';
import { RenameTitle } from '../../rename/RenameTitle.tsx';

/** Renames a rented or an own server. */
export function RenameInstance(props: Omit<ComponentProps<typeof RenameTitle>, 'shownBy' | 'namedBy'>) {
  return (
    <RenameTitle {...props} shownBy={['instance-rented/', 'self-hosted-instance/']} namedBy={['docker-container/']} />
  );
}
