import { expect, it } from 'vitest';
import { filesBelow } from './pickedFiles.ts';

type Tree = { [name: string]: Tree | string };

/** A folder as the browser gives it: at most two entries at a time. */
function folder(name: string, tree: Tree): FileSystemDirectoryEntry {
  const entries = Object.entries(tree).map(([below, content]) =>
    typeof content === 'string' ? fileEntry(below, content) : folder(below, content),
  );
  return {
    name,
    isFile: false,
    isDirectory: true,
    createReader() {
      const left = [...entries];
      return { readEntries: (give: (some: unknown[]) => void) => give(left.splice(0, 2)) };
    },
  } as unknown as FileSystemDirectoryEntry;
}

function fileEntry(name: string, content: string): FileSystemFileEntry {
  return {
    name,
    isFile: true,
    isDirectory: false,
    file(give: (file: File) => void, refuse: (error: unknown) => void) {
      if (content === 'locked') refuse(new DOMException('locked', 'NotReadableError'));
      else give(new File([content], name));
    },
  } as unknown as FileSystemFileEntry;
}

it('finds every file of dropped folders with its path, in order', async () => {
  const tree = { a: '1', b: { c: '2', d: { ' e ': '3' } }, f: '4', g: '5', h: '6', empty: {} };
  const { files } = await filesBelow([folder('top', tree), fileEntry('beside.txt', '7')]);
  expect(files.map(({ path }) => path)).toEqual([
    'top/a',
    'top/b/c',
    'top/b/d/ e ',
    'top/f',
    'top/g',
    'top/h',
    'beside.txt',
  ]);
  expect(await files[2]?.file.text()).toBe('3');
});

it('goes 2,000 folders deep', async () => {
  let entry = folder('deep', { file: 'x' });
  for (let level = 0; level < 2_000; level += 1) {
    const inner = entry;
    entry = { ...folder('d', {}), createReader: readerOf(inner) } as unknown as FileSystemDirectoryEntry;
  }
  const { files } = await filesBelow([entry]);
  expect(files).toHaveLength(1);
  expect(files[0]?.path.split('/')).toHaveLength(2_002);
});

const readerOf = (inner: FileSystemEntry) => () => {
  const left = [inner];
  return { readEntries: (give: (some: unknown[]) => void) => give(left.splice(0, 1)) };
};

it('names what it cannot read and goes on', async () => {
  const { files, unreadable } = await filesBelow([folder('top', { a: 'locked', b: '1' })]);
  expect(unreadable).toEqual(['top/a']);
  expect(files.map(({ path }) => path)).toEqual(['top/b']);
});
