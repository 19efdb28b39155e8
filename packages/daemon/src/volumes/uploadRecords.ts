import { z } from 'zod';
import { hasErrorCode, readFileIfExists, writeFileAtomically } from '../atomicFile.ts';
import { errorText, log } from '../log.ts';
import { parseJson } from '../parseJson.ts';

const UploadRecord = z.object({
  containerId: z.number(),
  volume: z.string(),
  path: z.string(),
  upload: z.string(),
  /** When bytes came last. */
  at: z.number(),
});
export type UploadRecord = z.infer<typeof UploadRecord>;

/** The unfinished uploads on this server, so that abandoned ones are found again. */
export interface UploadRecords {
  keep(record: UploadRecord): Promise<void>;
  forget(upload: string): Promise<void>;
  /** Those to which nothing came since then. */
  before(time: number): UploadRecord[];
}

export async function openUploadRecords(path: string): Promise<UploadRecords> {
  const records = new Map((await load(path)).map((record) => [record.upload, record]));
  let saving: Promise<unknown> = Promise.resolve();

  function save(): Promise<void> {
    // In sequence, or an older list could overwrite a newer one.
    const saved = saving.then(() => writeFileAtomically(path, JSON.stringify([...records.values()]), 0o600));
    saving = saved.catch(() => {});
    return saved;
  }
  return {
    async keep(record) {
      records.set(record.upload, record);
      await save();
    },
    async forget(upload) {
      if (records.delete(upload)) await save();
    },
    before: (time) => [...records.values()].filter(({ at }) => at < time),
  };
}

async function load(path: string): Promise<UploadRecord[]> {
  try {
    const content = await readFileIfExists(path);
    return content === null ? [] : z.array(UploadRecord).parse(parseJson(content));
  } catch (error) {
    if (hasErrorCode(error, 'EACCES', 'EIO')) throw error;
    log(`the list of unfinished uploads is damaged and begun anew: ${errorText(error)}`);
    return [];
  }
}
