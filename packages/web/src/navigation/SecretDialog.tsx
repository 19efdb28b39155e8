import type { ReactNode } from 'react';
import { GuardedDialog } from './GuardedDialog.tsx';

interface Props {
  opened: boolean;
  onClose(): void;
  title: string;
  /** The secret is on screen: `unsaved` until it was downloaded or copied. Null while there is none. */
  secret: 'unsaved' | 'saved' | null;
  /** The question before an unsaved secret is lost. */
  question: { title: string; lost: string };
  testId?: string;
  children(close: () => void): ReactNode;
}

/** A dialog that makes a secret and shows it for the only time. */
export function SecretDialog({ secret, ...dialog }: Props) {
  return <GuardedDialog {...dialog} atRisk={secret === 'unsaved'} closeOnOutside={secret === null} />;
}
