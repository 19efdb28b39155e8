import { Drawer, Modal } from '@mantine/core';
import type { ReactNode } from 'react';
import { useT } from '../../i18n/i18n.ts';
import { DIALOG_SIZE, type DIALOG_SIZES } from '../kitConstants.ts';
import classes from './Dialog.module.css';
import type { CloseReason } from './dialogStack.ts';
import { focusFirst, useHostedModal } from './hostedModal.ts';

export type DialogSize = (typeof DIALOG_SIZES)[number];

const WIDTH_PX: Record<DialogSize, number> = { xs: 400, s: 520, m: 720 };

export interface DialogProps {
  opened: boolean;
  /** By the close button, Escape or a press outside; by `route` when the page beneath changes. */
  onClose(by: CloseReason): void;
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
  const hosted = useHostedModal(opened, { persistent, routed, onClose });
  const shared = {
    ...hosted,
    title,
    withCloseButton: withClose,
    closeButtonProps: { 'aria-label': t('Close') },
    closeOnClickOutside: closeOnOutside,
    'data-testid': testId,
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
