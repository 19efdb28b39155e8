import { api } from '@stagi/contract/api.ts';
import type { TaskDetail } from '@stagi/contract/tasks.ts';
import { call } from '../../../api/client.ts';
import type { ObjectSource } from '../../../objects/objectSource.ts';

/** What a task has put out; keys are relative to its output directory. */
export function taskOutput({ id, outputUri }: TaskDetail): ObjectSource {
  return {
    path: api.tasks.output.path,
    id,
    isReadable: true,
    list: (page, signal) => call(api.tasks.output, { id, ...page }, { quiet: true, signal }),
    async link(key, { inline }, signal) {
      // What a person asked for tells them itself that it failed.
      return (await call(api.tasks.outputLink, { id, key, inline }, { quiet: inline, signal })).link;
    },
    previewLink: async (key, signal) =>
      (await call(api.tasks.outputPreview, { id, key }, { quiet: true, signal })).link,
    folderLink: async (prefix) => (await call(api.tasks.outputZip, { id, prefix })).link,
    uri: (key) => outputUri + key,
  };
}
