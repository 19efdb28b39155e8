import type { StorageObject } from '@stagi/contract/storages.ts';
import { text } from '@stagi/contract/text.ts';
import { no, type Verdict, yes } from '@stagi/contract/verdict.ts';
import type { ObjectSource } from './objectSource.ts';

/** Of the file system: a link, a device. Nothing of it is opened. */
export const isSpecial = ({ contentType }: StorageObject): boolean => contentType.startsWith('inode/');

/** Whether an object, or with null a folder, can be downloaded. */
export function downloadVerdict({ downloadRefusal }: ObjectSource, object: StorageObject | null): Verdict {
  if (downloadRefusal) return no(downloadRefusal);
  if (object && isSpecial(object)) return no(SPECIAL);
  return yes;
}

const SPECIAL = text('Only files and folders can be opened, no links and no devices');

/** Begins a download by a presigned link. In a tab of its own, which closes at once: a running upload is not asked about. */
export async function openDownload(source: ObjectSource, key: string): Promise<void> {
  openLink(await source.link(key, { inline: false }));
}

/** The same for a folder, as a ZIP file. */
export async function downloadFolder(source: ObjectSource, folder: string): Promise<void> {
  openLink(await source.folderLink(folder));
}

function openLink(link: string): void {
  const anchor = document.createElement('a');
  anchor.href = link;
  anchor.target = '_blank';
  anchor.rel = 'noopener';
  anchor.click();
}
