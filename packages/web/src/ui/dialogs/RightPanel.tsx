import type { ReactNode } from 'react';
import { Dialog } from './Dialog.tsx';
import classes from './RightPanel.module.css';

interface Props<Of> {
  /** What it is about; null: closed. */
  of: Of | null;
  onClose(): void;
  title: ReactNode;
  testId: string;
  children(of: Of): ReactNode;
}

/** What there is to know about one row of the list beneath, whose place is in the address. */
export function RightPanel<Of>({ of, children, ...dialog }: Props<Of>) {
  return (
    <Dialog {...dialog} opened={of !== null} routed placement="right">
      {of !== null && <div className={classes.panel}>{children(of)}</div>}
    </Dialog>
  );
}
