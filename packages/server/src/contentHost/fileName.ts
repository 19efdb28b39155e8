/**
 * What an object is called in a link and as a download: the last part of its key. Never a part that browsers resolve
 * (`.` and `..`), however it is encoded.
 */
export function fileNameOf(key: string): string {
  const name = key.split('/').findLast((part) => part !== '') ?? '';
  return /^\.{0,2}$/.test(name) ? 'object' : name;
}
