import { api } from '@stagi/contract/api.ts';
import { call } from '../../../api/client.ts';

/** Begins a download by a presigned link. In a tab of its own, which closes at once: a running upload is not asked about. */
export async function downloadObject(id: number, key: string): Promise<void> {
  const { link } = await call(api.storages.downloadLink, { id, key });
  const anchor = document.createElement('a');
  anchor.href = link;
  anchor.target = '_blank';
  anchor.rel = 'noopener';
  anchor.click();
}
