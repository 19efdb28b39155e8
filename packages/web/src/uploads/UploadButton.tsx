import { IconFile, IconFolder, IconUpload } from '@tabler/icons-react';
import { useRef } from 'react';
import { useT } from '../i18n/i18n.ts';
import { Button } from '../ui/Button.tsx';
import { DropdownMenu } from '../ui/DropdownMenu.tsx';
import { type PickedFile, pickedFiles } from './pickedFiles.ts';

interface Props {
  /** Why nothing can be uploaded now. */
  refusal: string | null;
  loading?: boolean;
  onFiles(files: PickedFile[]): void;
}

/** Chooses files, or a folder with all that is in it. */
export function UploadButton({ refusal, loading, onFiles }: Props) {
  const t = useT();
  const files = useRef<HTMLInputElement>(null);
  const folder = useRef<HTMLInputElement>(null);
  const input = (ref: typeof files, label: string, attributes: object, testId: string) => (
    <input
      ref={ref}
      type="file"
      multiple
      hidden
      aria-label={label}
      data-testid={testId}
      {...attributes}
      onChange={({ currentTarget }) => {
        const picked = pickedFiles(currentTarget.files ?? []);
        // The same files can be chosen again.
        currentTarget.value = '';
        if (picked.length > 0) onFiles(picked);
      }}
    />
  );
  const button = (
    <Button icon={<IconUpload size={16} />} reason={refusal} loading={loading} data-testid="upload">
      {t('Upload')}
    </Button>
  );
  return (
    <>
      {input(files, t('Files'), {}, 'upload-files')}
      {input(folder, t('A folder'), { webkitdirectory: '' }, 'upload-folder')}
      {refusal ? (
        button
      ) : (
        <DropdownMenu
          position="bottom-end"
          items={[
            { label: t('Files'), icon: <IconFile size={16} />, onClick: () => files.current?.click() },
            { label: t('A folder'), icon: <IconFolder size={16} />, onClick: () => folder.current?.click() },
          ]}
        >
          {button}
        </DropdownMenu>
      )}
    </>
  );
}
