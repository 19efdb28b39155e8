import type { SshKey } from '@stagi/contract/sshKeys.ts';
import type { ComponentType } from 'react';

// Features do not import each other. What a page shows of another feature is a component that routes.tsx passes to it.

export interface SshKeyDialogProps {
  opened: boolean;
  onClose(): void;
  /** The new key, as soon as it exists. */
  onAdded?(key: SshKey): void;
}
export type SshKeyDialogSlot = ComponentType<SshKeyDialogProps>;

export interface ServerContainersProps {
  server: { id: number; title: string; status: string };
}
/** The containers of one server, with the way to another. */
export type ServerContainersSlot = ComponentType<ServerContainersProps>;
