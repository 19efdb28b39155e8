import { memberName } from '@stagi/contract/memberNames.ts';

/**
 * Gives each object of an archive a path of its own. Keys that differ in S3 may name the same file elsewhere, as `a:b` and
 * `a_b` do, or a file and a folder at once, as `a` and `a/b`: the later one gets a `_` behind its name.
 */
export function createMemberPlaces(top: string): (key: string) => string {
  const files = new Set<string>();
  const folders = new Set<string>([memberName(top)]);
  return (key) => {
    const parts = key.split('/').map(memberName);
    // A key that ends in `/` is a folder that somebody made.
    const isFolder = key.endsWith('/');
    if (isFolder) parts.pop();
    let path = memberName(top);
    for (const [index, part] of parts.entries()) {
      const isFile = index === parts.length - 1 && !isFolder;
      path = `${path}/${part}`;
      while (files.has(path) || (isFile && folders.has(path))) path += '_';
      (isFile ? files : folders).add(path);
    }
    return isFolder ? `${path}/` : path;
  };
}
