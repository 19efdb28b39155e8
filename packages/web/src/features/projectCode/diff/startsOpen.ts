import type { ChangedFile } from '@stagi/contract/projectCode.ts';

/** Lines of a diff that are rendered without being asked for: of one file, and of a commit. */
const OF_ONE = 400;
const OF_ALL = 1_500;
const MOST_FILES = 30;
/** What tools write; people look at it last. */
const GENERATED =
  /(?:^|\/)(?:package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|Cargo\.lock|poetry\.lock|uv\.lock|Pipfile\.lock|composer\.lock|Gemfile\.lock|go\.sum|[^/]+\.min\.(?:js|css)|[^/]+\.map)$/;

/** The paths of the files whose diff is open at first. */
export function startsOpen(files: readonly ChangedFile[]): ReadonlySet<string> {
  const opened = new Set<string>();
  let lines = 0;
  for (const { path, additions, deletions } of files) {
    const own = (additions ?? 0) + (deletions ?? 0);
    if (own > OF_ONE || GENERATED.test(path)) continue;
    if (opened.size >= MOST_FILES || (lines + own > OF_ALL && opened.size > 0)) break;
    lines += own;
    opened.add(path);
  }
  return opened;
}
