import { api } from '@stagi/contract/api.ts';
import type { Storage } from '@stagi/contract/storages.ts';
import { call } from '../../../api/client.ts';
import { s3Uri } from '../../../objects/objectNames.ts';
import type { ObjectSource } from '../../../objects/objectSource.ts';

/** The objects of a storage. */
export function storageObjects({ id, bucket, status }: Storage): ObjectSource {
  return {
    path: api.storages.objects.path,
    id,
    isReadable: status === 'rented',
    list: (page, signal) => call(api.storages.objects, { id, ...page }, { quiet: true, signal }),
    async link(key, { inline }, signal) {
      // What a person asked for tells them itself that it failed.
      const quiet = inline;
      return (await call(api.storages.downloadLink, { id, key, inline }, { quiet, signal })).link;
    },
    previewLink: async (key, signal) =>
      (await call(api.sharing.previewLink, { id, key }, { quiet: true, signal })).link,
    folderLink: async (prefix) => (await call(api.sharing.zipLink, { id, prefix })).link,
    uri: (key) => s3Uri(bucket, key),
  };
}
