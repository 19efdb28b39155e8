import { describe, expect, it } from 'vitest';
import { toDockerError } from './dockerErrors.ts';

const DOCKER_ERRORS: [string, string, boolean][] = [
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
  [
    '(HTTP code 500) server error - mkdir /var/lib/docker/overlay2/0f3a/merged/work/my file: not a directory ',
    '/work/my file is a file where a directory is needed',
    true,
  ],
  ['(HTTP code 500) server error - something new ', 'something new', false],
];

describe("Docker's errors", () => {
  it.each(DOCKER_ERRORS)('%s', (said, message, permanent) => {
    const problem = toDockerError(new Error(said), 'img:1');
    expect({ message: problem.message, permanent: problem.permanent }).toEqual({ message, permanent });
  });

  it('about bad parameters are permanent', () => {
    const error = Object.assign(new Error('(HTTP code 400) bad parameter - Range of CPUs is from 0.01 to 2.00 '), {
      statusCode: 400,
    });
    expect(toDockerError(error, 'x')).toMatchObject({ message: 'Range of CPUs is from 0.01 to 2.00', permanent: true });
  });
});
