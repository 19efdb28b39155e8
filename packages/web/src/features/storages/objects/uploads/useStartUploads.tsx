import { GB } from '@stagi/contract/storageRules.ts';
import type { OpenUpload, Storage } from '@stagi/contract/storages.ts';
import type { ReactNode } from 'react';
import { useT } from '../../../../i18n/i18n.ts';
import { isTooLong } from '../../../../objects/objectNames.ts';
import type { ObjectSource } from '../../../../objects/objectSource.ts';
import { formatBytes } from '../../../../ui/format.ts';
import { toast } from '../../../../ui/toasts.ts';
import type { PickedFile } from '../../../../uploads/pickedFiles.ts';
import { addUploads } from '../../../../uploads/uploadQueue.ts';
import { useReplaceQuestion } from '../../../../uploads/useReplaceQuestion.tsx';
import { useStored } from '../../../../uploads/useStored.ts';
import { storageUpload } from './storageUpload.ts';
import { uploadToResume } from './uploadMemory.ts';

interface Given {
  storage: Storage;
  source: ObjectSource;
  folder: string;
  open: readonly OpenUpload[];
}

/** Puts picked files on the queue; asks before when they replace objects, and refuses what has no room. */
export function useStartUploads({ storage, source, folder, open }: Given): {
  start(files: readonly PickedFile[]): Promise<void>;
  isLooking: boolean;
  question: ReactNode;
} {
  const t = useT();
  const { find, isLooking } = useStored(source, folder);
  const { ask, question } = useReplaceQuestion({
    title: (count) => t('Replace {{count}} objects?', { count }),
    lost: t('Objects of the same name are replaced. What they hold now is lost.'),
  });

  async function start(files: readonly PickedFile[]): Promise<void> {
    const requests = files.map(({ path, file }) => {
      const key = folder + path;
      const uploadId = uploadToResume(open, key, file)?.uploadId;
      return storageUpload({ storageId: storage.id, key, file, uploadId });
    });
    const tooLong = requests.filter(({ key }) => isTooLong(key));
    if (tooLong[0])
      toast.error(t('A key has at most 1,024 bytes: {{name}}', { name: `${tooLong[0].key.slice(0, 80)}…` }));
    const sent = requests.filter(({ key }) => !isTooLong(key));
    if (sent.length === 0) return;
    const there = await find(sent.map(({ key }) => key.slice(folder.length)));
    if (!there) return;
    const replaced = [...there.keys()];
    const needed = sent.reduce((sum, { key, file }) => sum + file.size - (there.get(key)?.sizeBytes ?? 0), 0);
    const free = storage.sizeGb * GB - storage.usedBytes;
    if (needed > free) {
      const amounts = { needed: formatBytes(needed), free: formatBytes(Math.max(0, free)) };
      toast.error(
        t('These files need {{needed}}, but {{free}} is free: make the storage larger or delete objects.', amounts),
      );
      return;
    }
    ask(replaced, () => addUploads(sent));
  }

  return { start, isLooking, question };
}
