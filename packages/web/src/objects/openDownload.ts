import type { ObjectSource } from './objectSource.ts';

/** Begins a download by a presigned link. In a tab of its own, which closes at once: a running upload is not asked about. */
export async function openDownload(source: ObjectSource, key: string): Promise<void> {
  const anchor = document.createElement('a');
  anchor.href = await source.link(key, { inline: false });
  anchor.target = '_blank';
  anchor.rel = 'noopener';
  anchor.click();
}
