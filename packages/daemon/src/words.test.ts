import { describe, expect, it } from 'vitest';
import { backOff } from './deadline.ts';
import { explain } from './dockerErrors.ts';
import { openHoles, warningsOf } from './facts.ts';
import { parseGpus } from './gpu.ts';
import { startLoop } from './loop.ts';
import { parseOsRelease } from './machine.ts';
import { pullProgress } from './pullProgress.ts';

const DOCKER_SAYS: [string, string, boolean][] = [
  [
    '(HTTP code 500) server error - driver failed programming external connectivity on endpoint stagi-a (0f): Bind for 0.0.0.0:8080 failed: port is already allocated ',
    'Port 8080 is in use on the server',
    true,
  ],
  [
    '(HTTP code 500) server error - driver failed programming external connectivity on endpoint x: Error starting userland proxy: listen tcp4 0.0.0.0:8443: bind: address already in use ',
    'Port 8443 is in use on the server',
    true,
  ],
  [
    'failed to bind host port for 0.0.0.0:9000:172.17.0.2:80/tcp: address already in use',
    'Port 9000 is in use on the server',
    true,
  ],
  ['write /var/lib/docker/tmp/GetImageBlob1: no space left on device', "The server's disk is full", true],
  [
    'OCI runtime create failed: starting container process caused: exec: "pyhton": executable file not found in $PATH: unknown',
    'The command cannot be run in this image: pyhton was not found or is no program',
    true,
  ],
  [
    'OCI runtime create failed: exec: "/run.sh": permission denied: unknown',
    'The command cannot be run in this image: /run.sh was not found or is no program',
    true,
  ],
  ['No command specified', 'img:1 has no command of its own: enter one', true],
  [
    "pull access denied for img, repository does not exist or may require 'docker login': denied",
    'img:1 was not found, or its registry asks for a login',
    true,
  ],
  ['manifest for img:1 not found: manifest unknown: manifest unknown', 'img:1 was not found in its registry', true],
  [
    'Get "https://registry-1.docker.io/v2/": dial tcp: lookup registry-1.docker.io: no such host',
    'The registry of img:1 cannot be reached from the server',
    false,
  ],
  ['toomanyrequests: You have reached your pull rate limit', 'The registry allows no more downloads for now', false],
  [
    'could not select device driver "nvidia" with capabilities: [[gpu]]',
    'Docker on the server cannot give out GPUs: the NVIDIA Container Toolkit is missing or broken',
    true,
  ],
  ['(HTTP code 500) server error - something new ', 'something new', false],
];

describe("Docker's refusals", () => {
  it.each(DOCKER_SAYS)('%s', (said, message, permanent) => {
    const problem = explain(new Error(said), 'img:1');
    expect({ message: problem.message, permanent: problem.permanent }).toEqual({ message, permanent });
  });

  it('of bad parameters are lasting', () => {
    const error = Object.assign(new Error('(HTTP code 400) bad parameter - Range of CPUs is from 0.01 to 2.00 '), {
      statusCode: 400,
    });
    expect(explain(error, 'x')).toMatchObject({ message: 'Range of CPUs is from 0.01 to 2.00', permanent: true });
  });
});

describe('the progress of a pull', () => {
  it('adds layers up, never falls and ends at 1', () => {
    const progress = pullProgress();
    const events = [
      { status: 'Pulling from library/x', id: 'latest' },
      { status: 'Pulling fs layer', id: 'a' },
      { status: 'Pulling fs layer', id: 'b' },
      { status: 'Downloading', id: 'a', progressDetail: { current: 50e6, total: 100e6 } },
      { status: 'Already exists', id: 'b' },
      { status: 'Verifying Checksum', id: 'a' },
      { status: 'Download complete', id: 'a' },
      { status: 'Extracting', id: 'a', progressDetail: { current: 10, total: 100 } },
      { status: 'Pull complete', id: 'a' },
      { status: 'Digest: sha256:1' },
    ];
    const seen = events.map((event) => progress.take(event)?.fraction ?? null);
    const numbers = seen.filter((one) => one !== null);
    expect(numbers).toEqual([...numbers].sort((x, y) => x - y));
    expect(numbers.at(-1)).toBe(1);
    expect(
      progress.take({ status: 'Downloading', id: 'c', progressDetail: { current: 0, total: 1e6 } })?.fraction,
    ).toBe(1);
  });

  it('throws what Docker tells in the middle', () => {
    expect(() => pullProgress().take({ error: 'manifest unknown' })).toThrow('manifest unknown');
  });
});

describe('what a machine is', () => {
  it('reads nvidia-smi', () => {
    expect(parseGpus('0, NVIDIA H200, 143771\n1, NVIDIA A100, 80GB, 81920\n2, GB10, [N/A]\n\n')).toEqual([
      { index: 0, name: 'NVIDIA H200', memoryMb: 143771 },
      { index: 1, name: 'NVIDIA A100, 80GB', memoryMb: 81920 },
      { index: 2, name: 'GB10', memoryMb: 0 },
    ]);
    expect(parseGpus('NVIDIA-SMI has failed')).toEqual([]);
  });

  it('reads os-release in its three ways of quoting', () => {
    const read = parseOsRelease('ID=ubuntu\nPRETTY_NAME="Ubuntu 24.04 LTS"\nX=\'y\'\n# no\n');
    expect([read.get('ID'), read.get('PRETTY_NAME'), read.get('X')]).toEqual(['ubuntu', 'Ubuntu 24.04 LTS', 'y']);
  });

  it.each([
    ['1.1.5+ds1-1', ['CVE-2024-21626', 'CVE-2025-31133']],
    ['1.1.12', ['CVE-2025-31133']],
    ['1.2.7', ['CVE-2025-31133']],
    ['1.2.8', []],
    ['1.3.2', ['CVE-2025-31133']],
    ['1.3.3', []],
    ['1.4.0', []],
    ['unknown', []],
  ])('warns of runc %s for %j', (version, holes) => {
    expect(openHoles(version)).toEqual(holes);
  });

  it('warns of GPUs that Docker cannot give out', () => {
    const info = { version: '28', runc: '1.3.3', rootDir: '/', runtimes: ['runc'] };
    expect(warningsOf(info, true)).toHaveLength(1);
    expect(warningsOf(info, false)).toEqual([]);
  });
});

describe('time', () => {
  it('between tries lies between 1 s and a growing bound', () => {
    expect([0, 1, 2, 9].map((attempt) => backOff(attempt, 20_000, () => 1))).toEqual([2000, 4000, 8000, 20_000]);
    expect(backOff(9, 20_000, () => 0)).toBe(1000);
  });

  it('is saved in a storm: a thousand hints cost few looks, and the last one is not missed', async () => {
    let passes = 0;
    const loop = startLoop(async () => void passes++, { everyMs: 60_000, gapMs: 20 });
    await loop.settled();
    for (let i = 0; i < 1000; i++) loop.hint();
    await loop.settled();
    expect(passes).toBeLessThanOrEqual(3);
    loop.stop();
  });
});
