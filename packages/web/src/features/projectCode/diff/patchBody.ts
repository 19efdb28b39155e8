/**
 * A patch of one file with headers of our own. Those of git hold the file's names, which may have anything in them;
 * only the lines from the first `@@` on are ever parsed.
 */
export function patchBody(patch: string): string {
  const start = /^@@ /m.exec(patch)?.index;
  return start === undefined ? '' : `--- a/file\n+++ b/file\n${patch.slice(start)}`;
}
