import { describe, expect, it } from 'vitest';
import { type CodeAddress, codePaths, crumbsOf, linesHash, parseCodeAddress, parseLines } from './codeAddress.ts';

const SHA = 'a'.repeat(40);
const BLOB = 'b'.repeat(40);
const ODD_NAMES = [
  'feature/a b',
  'a%2Fb',
  '%',
  'x?y#z',
  'ключ/中文',
  '<script>alert(1)</script>',
  "it's",
  'a+b&c=d',
  '...',
];

function backAndForth(screen: 'tree' | 'commit' | 'blob', address: CodeAddress): CodeAddress | null {
  const made = codePaths[screen](7, address as CodeAddress & { branch: string; blobSha: string });
  return parseCodeAddress(screen, new URL(made, 'http://localhost').pathname);
}

describe('addresses of the code screens', () => {
  it('are those of the specification', () => {
    expect(codePaths.tree(7)).toBe('/projects/7/code/tree');
    expect(codePaths.tree(7, { branch: 'main', sha: SHA, blobSha: BLOB, path: 'src/a' })).toBe(
      `/projects/7/code/tree/main/${SHA}/${BLOB}/src%2Fa`,
    );
    expect(codePaths.commit(7, { branch: 'main', sha: SHA, path: 'a.ts' })).toBe(`/projects/7/commit/main/${SHA}/a.ts`);
    expect(codePaths.commits(7, { branch: 'fix/it' })).toBe('/projects/7/commits/fix%2Fit');
    expect(codePaths.blob(7, { branch: 'main', path: 'src/a.ts', blobSha: BLOB })).toBe(
      `/projects/7/blob/main/src%2Fa.ts/${BLOB}`,
    );
  });

  it.each(ODD_NAMES)('keep the name %s, as branch and as path', (name) => {
    for (const sha of [null, SHA]) {
      const address = { branch: name, sha, blobSha: null, path: name };
      expect(backAndForth('tree', address)).toEqual(address);
      expect(backAndForth('commit', address)).toEqual(address);
      expect(backAndForth('blob', { ...address, blobSha: BLOB })).toEqual({ ...address, blobSha: BLOB });
    }
  });

  it('tell a path that looks like a hash from a hash when every part is there', () => {
    const address = { branch: SHA, sha: SHA, blobSha: BLOB, path: SHA };
    expect(backAndForth('tree', address)).toEqual(address);
    expect(backAndForth('blob', address)).toEqual(address);
    expect(backAndForth('commit', { ...address, blobSha: null })).toEqual({ ...address, blobSha: null });
  });

  it('have optional ends', () => {
    const nowhere = { branch: null, sha: null, blobSha: null, path: '' };
    expect(parseCodeAddress('tree', '/projects/7/code/tree')).toEqual(nowhere);
    expect(parseCodeAddress('tree', '/projects/7/code/tree/')).toEqual(nowhere);
    expect(parseCodeAddress('commit', '/projects/7/commit')).toEqual(nowhere);
    expect(parseCodeAddress('commits', '/projects/7/commits/main')).toEqual({ ...nowhere, branch: 'main' });
  });

  it.each([
    ['tree', '/projects/7/code/tree/main/a/b'],
    ['blob', '/projects/7/blob'],
    ['blob', '/projects/7/blob/main/a.ts'],
    ['blob', `/projects/7/blob/main/a/b/${BLOB}`],
    ['commits', '/projects/7/commits/main/a'],
    ['tree', '/projects/7/code/tree/%E0%A4%A'],
    ['tree', '/projects/7/code/trees'],
  ] as const)('refuse what is none: %s %s', (screen, pathname) => {
    expect(parseCodeAddress(screen, pathname)).toBeNull();
  });
});

describe('lines in an address', () => {
  it('are one line or a range, in either order', () => {
    expect(parseLines('#L10')).toEqual({ from: 10, to: 10 });
    expect(parseLines('#L10-L20')).toEqual({ from: 10, to: 20 });
    expect(parseLines('#L20-L10')).toEqual({ from: 10, to: 20 });
    expect(linesHash({ from: 10, to: 20 })).toBe('#L10-L20');
    expect(linesHash({ from: 3, to: 3 })).toBe('#L3');
  });

  it.each(['', '#', '#L0', '#L1-', '#L-1', '#L1e9', '#readme', '#L9999999999'])('are not %s', (hash) => {
    expect(parseLines(hash)).toBeNull();
  });
});

it('crumbs lead from the root to the path', () => {
  expect(crumbsOf('')).toEqual([]);
  expect(crumbsOf('a/b.ts')).toEqual([
    { name: 'a', path: 'a' },
    { name: 'b.ts', path: 'a/b.ts' },
  ]);
});
