import { type ReactNode, useState } from 'react';
import { useT } from '../i18n/i18n.ts';
import { toast } from '../ui/toasts.ts';
import { droppedFiles, type PickedFile } from './pickedFiles.ts';
import classes from './Uploads.module.css';

interface Props {
  /** Where dropped files go, for the hint. */
  target: string;
  /** Why nothing can be dropped now. */
  refusal: string | null;
  onFiles(files: PickedFile[]): void;
  children: ReactNode;
}

/** Files and folders can be dropped on what is inside. */
export function DropZone({ target, refusal, onFiles, children }: Props) {
  const t = useT();
  const [over, setOver] = useState(false);

  async function take(transfer: DataTransfer): Promise<void> {
    const { files, unreadable } = await droppedFiles(transfer);
    if (unreadable.length > 0) toast.error(t('{{count}} files cannot be read', { count: unreadable.length }));
    if (files.length > 0) onFiles(files);
    else if (unreadable.length === 0) toast.info(t('There are no files in it'));
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is one more way; the Upload button serves the keyboard
    <div
      className={classes.zone}
      data-over={over || undefined}
      data-testid="drop-zone"
      onDragOver={(event) => {
        if (!event.dataTransfer.types.includes('Files')) return;
        event.preventDefault();
        event.dataTransfer.dropEffect = refusal ? 'none' : 'copy';
        setOver(true);
      }}
      onDragLeave={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false);
      }}
      onDrop={(event) => {
        if (!event.dataTransfer.types.includes('Files')) return;
        event.preventDefault();
        setOver(false);
        if (refusal) toast.error(refusal);
        else void take(event.dataTransfer);
      }}
    >
      {over && <div className={classes.dropHint}>{refusal ?? t('Drop to upload to {{name}}', { name: target })}</div>}
      {children}
    </div>
  );
}
