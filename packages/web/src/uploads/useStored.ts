import { CallError } from '@stagi/contract/errors.ts';
import type { StorageObject } from '@stagi/contract/storages.ts';
import { useState } from 'react';
import { errorText } from '../api/messages.ts';
import { useT } from '../i18n/i18n.ts';
import type { ObjectSource } from '../objects/objectSource.ts';
import { toast } from '../ui/toasts.ts';
import { storedAmong } from './storedAmong.ts';

/** Looks at what an upload would replace. `find` answers null when that is not known: then nothing may be sent. */
export function useStored(source: ObjectSource, folder: string) {
  const t = useT();
  const [isLooking, setLooking] = useState(false);

  async function find(paths: readonly string[]): Promise<Map<string, StorageObject> | null> {
    setLooking(true);
    try {
      return await storedAmong(source, folder, paths, new AbortController().signal);
    } catch (cause) {
      if (!(cause instanceof CallError)) throw cause;
      toast.error(errorText(cause), t('Nothing was uploaded'));
      return null;
    } finally {
      setLooking(false);
    }
  }

  return { find, isLooking };
}
