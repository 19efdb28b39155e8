import { describe, expect, it } from 'vitest';
import { packageVersion } from './docker.ts';
import { vulnerableRunc, warningsOf } from './facts.ts';
import { parseGpus } from './gpu.ts';
import { parseOsRelease } from './machine.ts';

describe('the facts of a machine', () => {
  it('reads nvidia-smi', () => {
    expect(parseGpus('0, NVIDIA H200, 143771\n1, NVIDIA A100, 80GB, 81920\n2, GB10, [N/A]\n\n')).toEqual([
      { index: 0, name: 'NVIDIA H200', memoryMb: 143771 },
      { index: 1, name: 'NVIDIA A100, 80GB', memoryMb: 81920 },
      { index: 2, name: 'GB10', memoryMb: 0 },
    ]);
    expect(parseGpus('NVIDIA-SMI has failed')).toEqual([]);
  });

  it('reads the three ways of quoting in os-release', () => {
    const read = parseOsRelease('ID=ubuntu\nPRETTY_NAME="Ubuntu 24.04 LTS"\nX=\'y\'\n# no\n');
    expect([read.get('ID'), read.get('PRETTY_NAME'), read.get('X')]).toEqual(['ubuntu', 'Ubuntu 24.04 LTS', 'y']);
  });

  it.each([
    ['1.1.5+ds1-1', ['CVE-2024-21626', 'CVE-2025-31133']],
    // Debian fixed the first in this package of the old version, and the second in none.
    ['1.1.5+ds1-1+deb12u1', ['CVE-2025-31133']],
    ['1.1.12', ['CVE-2025-31133']],
    ['1.2.7', ['CVE-2025-31133']],
    ['1.2.8', null],
    ['1.3.2', ['CVE-2025-31133']],
    ['1.3.3', null],
    ['1.4.0', null],
    ['unknown', null],
  ])('finds runc %s open to %j', (version, cves) => {
    expect(vulnerableRunc({ runc: version })).toEqual(cves ? { version, cves } : undefined);
  });

  it('reads the package of runc where Docker names it in place of the commit', () => {
    const debian = { Version: '1.1.5+ds1', Details: { GitCommit: '1.1.5+ds1-1+deb12u1' } };
    expect(packageVersion(debian)).toBe('1.1.5+ds1-1+deb12u1');
    expect(packageVersion({ Version: '1.3.3', Details: { GitCommit: 'v1.3.3-0-gd842d771' } })).toBe('1.3.3');
    expect(packageVersion({ Version: '1.3.3' })).toBe('1.3.3');
  });

  it('warns of GPUs that Docker cannot pass to containers', () => {
    const info = { version: '28', runc: '1.3.3', rootDir: '/', runtimes: ['runc'], init: true };
    expect(warningsOf(info, true)).toHaveLength(1);
    expect(warningsOf(info, false)).toEqual([]);
  });
});
