import { Drawer, Modal } from '@mantine/core';
import type { ReactNode } from 'react';
import { useT } from '../../i18n/i18n.ts';
import { DIALOG_SIZE, type DIALOG_SIZES } from '../kitConstants.ts';
import classes from './Dialog.module.css';
import { type ClosedBy, useDialogPlace } from './stack.ts';

export type DialogSize = (typeof DIALOG_SIZES)[number];

const WIDTH_PX: Record<DialogSize, number> = { xs: 400, s: 520, m: 720 };
const FADE_MS = 100;

export interface DialogProps {
  opened: boolean;
  /** By the close button, Escape or a press outside; by `route` when the page beneath changes. */
  onClose(by: ClosedBy): void;
  title: ReactNode;
  size?: DialogSize;
  /** Closes only by its own buttons: neither by Escape nor by a press outside. */
  persistent?: boolean;
  /** A press outside closes it. Not for what is shown only once. */
  closeOnOutside?: boolean;
  /** Its place is in the address, which opens and closes it. */
  routed?: boolean;
  /** `right`: a panel at the side, for what belongs to the page beneath. */
  placement?: 'center' | 'right';
  /** Without the cross, where a Cancel button stands below. */
  withClose?: boolean;
  testId?: string;
  children: ReactNode;
}

/**
 * A dialog. Of several open ones the last is shown; when it closes, the one before comes back as it was left.
 * What is inside lives only while it is open. Submits inside do not reach a form around it.
 */
export function Dialog({
  opened,
  onClose,
  title,
  size = DIALOG_SIZE,
  persistent = false,
  closeOnOutside = !persistent,
  routed = false,
  placement = 'center',
  withClose = !persistent,
  testId,
  children,
}: DialogProps) {
  const t = useT();
  const { id, covered, alone } = useDialogPlace(opened, { persistent, routed, onClose });
  const shared = {
    id,
    opened,
    onClose: () => onClose('person'),
    title,
    withCloseButton: withClose,
    closeButtonProps: { 'aria-label': t('Close') },
    closeOnClickOutside: closeOnOutside,
    // All of these are the host's business: it sees the other dialogs too.
    closeOnEscape: false,
    trapFocus: false,
    returnFocus: false,
    'data-dialog': true,
    'data-testid': testId,
    style: covered ? { display: 'none' } : undefined,
    // One dialog takes the place of another at once, else the page would shine through.
    transitionProps: { duration: alone ? FADE_MS : 0 },
  };
  const body = (
    <div className={classes.body} ref={focusFirst} onSubmit={(event) => event.stopPropagation()}>
      {children}
    </div>
  );
  return placement === 'right' ? (
    <Drawer {...shared} position="right" size={480}>
      {body}
    </Drawer>
  ) : (
    <Modal {...shared} size={WIDTH_PX[size]}>
      {body}
    </Modal>
  );
}

const FOCUSABLE = 'a[href], button:not(:disabled), input:not(:disabled), select, textarea, [tabindex="0"]';

/** Into the dialog as soon as it is there: to what asks for it, else to its first control, else to the dialog. */
function focusFirst(body: HTMLElement | null): void {
  // After the host has noted where the focus comes from.
  queueMicrotask(() => {
    if (!body?.isConnected || body.contains(document.activeElement)) return;
    const asks = body.querySelector<HTMLElement>('[data-autofocus]') ?? body.querySelector<HTMLElement>(FOCUSABLE);
    (asks ?? body.closest<HTMLElement>('[role="dialog"]'))?.focus({ preventScroll: true });
  });
}
