import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** True for the first who asks with this name in a run, and in no later process of it. */
export function isFirst(name: string): boolean {
  try {
    writeFileSync(join(process.env.SECOND_LOOK_FOLDER!, name), '', { flag: 'wx' });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}
