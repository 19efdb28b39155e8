import { FilePath } from '@stagi/contract/volumePaths.ts';
import type { ReactNode } from 'react';
import { useT } from '../../../i18n/i18n.ts';
import type { ObjectSource } from '../../../objects/objectSource.ts';
import { isSpecial } from '../../../objects/openDownload.ts';
import { toast } from '../../../ui/toasts.ts';
import type { PickedFile } from '../../../uploads/pickedFiles.ts';
import { addUploads } from '../../../uploads/uploadQueue.ts';
import { useReplaceQuestion } from '../../../uploads/useReplaceQuestion.tsx';
import { useStored } from '../../../uploads/useStored.ts';
import type { VolumeRef } from './volumeObjects.ts';
import { volumeUpload } from './volumeUpload.ts';

interface Given {
  of: VolumeRef;
  source: ObjectSource;
  folder: string;
}

/** Puts picked files on the queue; asks before when they replace files, and refuses names that cannot be stored. */
export function useVolumeUploads({ of, source, folder }: Given): {
  start(files: readonly PickedFile[]): Promise<void>;
  isLooking: boolean;
  question: ReactNode;
} {
  const t = useT();
  const { find, isLooking } = useStored(source, folder);
  const { ask, question } = useReplaceQuestion({
    title: () => t('Replace files of the same name?'),
    lost: t('What they hold now is lost.'),
  });

  async function start(files: readonly PickedFile[]): Promise<void> {
    const refusals = files.map(({ path }) => FilePath.safeParse(folder + path).error?.issues[0]?.message);
    const refused = refusals.findIndex((message) => message !== undefined);
    const reason = refusals[refused];
    if (reason !== undefined) toast.error(`${files[refused]?.path.slice(0, 80)}: ${t(reason)}`);
    const sent = files.filter((_, index) => refusals[index] === undefined);
    const there = await find(sent.map(({ path }) => path));
    if (!there) return;
    // What is no file is never replaced: such an upload is refused.
    const replaced = [...there.values()].filter((object) => !isSpecial(object)).map(({ key }) => key);
    ask(replaced, () => add(sent, replaced));
  }

  function add(files: readonly PickedFile[], replaced: readonly string[]): void {
    const requests = files.map(({ path, file }) => {
      const whole = folder + path;
      return volumeUpload({ of, path: whole, file, replace: replaced.includes(whole) });
    });
    addUploads(requests);
  }

  return { start, isLooking, question };
}
