import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/**
 * The folders, given by their real paths, that a process runs on: its program, its working directory or a file that it has
 * mapped lies there. A process of another user shows no more than its command line; it counts for all of them when that
 * names the checkout, as the bootstrap starts programs by their absolute paths.
 */
export function usedFolders(folders, checkout) {
  const used = new Set();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const paths = pathsOf(pid);
    const isHidden = paths === null && readOf(pid, 'cmdline').includes(`${checkout}/`);
    for (const folder of folders)
      if (isHidden || paths?.some((path) => path === folder || path.startsWith(`${folder}/`))) used.add(folder);
  }
  return used;
}

/** Null when this user may not see them. */
function pathsOf(pid) {
  try {
    const maps = readFileSync(`/proc/${pid}/maps`, 'utf8');
    const links = ['exe', 'cwd'].map((name) => readlinkSync(`/proc/${pid}/${name}`));
    return [...links, ...new Set(maps.match(/\/.*/g))];
  } catch (error) {
    // ENOENT and ESRCH: it has ended, or is a thread of the kernel.
    return ['EACCES', 'EPERM'].includes(error.code) ? null : [];
  }
}

/** Empty when it has ended. */
function readOf(pid, name) {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}
