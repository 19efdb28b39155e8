import type { SshKeySelectProps } from './featureSlots.ts';
import { lazyComponent } from './lazyChunks.ts';

// What the page of a model shows of other features, when it is first needed. Their file names are in a file of their
// own, which other first pages do not contain.

export const SshKeySelect = lazyComponent(async () => {
  const [{ SshKeySelect }, { SshKeyDialog }] = await Promise.all([
    import('./features/marketplace/SshKeySelect.tsx'),
    import('./features/sshKeys/SshKeyDialog.tsx'),
  ]);
  return (props: SshKeySelectProps) => <SshKeySelect {...props} SshKeyDialog={SshKeyDialog} />;
});

export const ContactDialog = lazyComponent(
  async () => (await import('./features/contact/ContactDialog.tsx')).ContactDialog,
);
