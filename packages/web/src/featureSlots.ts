import type { ContactAbout } from '@stagi/contract/contact.ts';
import type { Project } from '@stagi/contract/projects.ts';
import type { SshKey } from '@stagi/contract/sshKeys.ts';
import type { ComponentType, ReactNode } from 'react';
import { useOutletContext } from 'react-router';

// Features do not import each other. What a page shows of another feature is a component that routes.tsx passes to it.

export interface SshKeyDialogProps {
  opened: boolean;
  onClose(): void;
  /** The new key, as soon as it exists. */
  onAdded?(key: SshKey): void;
}
export type SshKeyDialogSlot = ComponentType<SshKeyDialogProps>;

export interface SshKeySelectProps {
  /** The key's id as text; empty when none is chosen. */
  value: string;
  onChange(id: string): void;
  error?: ReactNode;
  /** The id of the form, which is elsewhere in the DOM. */
  form: string;
}
/** The SSH key that a rented server will accept, with the way to add one. */
export type SshKeySelectSlot = ComponentType<SshKeySelectProps>;

export interface ContactDialogProps {
  opened: boolean;
  onClose(): void;
  /** What the person is looking at; it is sent with the message. */
  about?: ContactAbout;
}
export type ContactDialogSlot = ComponentType<ContactDialogProps>;

export interface ServerContainersProps {
  server: { id: number; title: string; status: string };
}
/** The containers of one server, with the way to another; or its images. */
export type ServerContainersSlot = ComponentType<ServerContainersProps>;

/** The project around a page below `ProjectPage`, as it was read last. */
export const useProject = (): Project => useOutletContext<Project>();
