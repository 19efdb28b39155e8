import { expect, it } from 'vitest';
import { canonicalImage, parseImage, registryHost } from './imageReference.ts';

const DIGEST = `sha256:${'a'.repeat(64)}`;

it.each([
  ['ubuntu', 'docker.io', 'ubuntu:latest'],
  ['library/ubuntu:24.04', 'docker.io', 'ubuntu:24.04'],
  ['docker.io/library/ubuntu', 'docker.io', 'ubuntu:latest'],
  ['index.docker.io/owner/name:1', 'docker.io', 'owner/name:1'],
  ['owner/name', 'docker.io', 'owner/name:latest'],
  ['ghcr.io/owner/name:tag', 'ghcr.io', 'ghcr.io/owner/name:tag'],
  ['localhost/thing', 'localhost', 'localhost/thing:latest'],
  ['localhost:5000/thing:1', 'localhost:5000', 'localhost:5000/thing:1'],
  ['127.0.0.1:5000/a/b/c', '127.0.0.1:5000', '127.0.0.1:5000/a/b/c:latest'],
  [`ubuntu@${DIGEST}`, 'docker.io', `ubuntu@${DIGEST}`],
  [`ghcr.io/o/n:1@${DIGEST}`, 'ghcr.io', `ghcr.io/o/n@${DIGEST}`],
])('%s lies at %s and is listed as %s', (reference, host, listed) => {
  expect(parseImage(reference)?.host).toBe(host);
  expect(canonicalImage(reference)).toBe(listed);
});

it.each(['', 'UPPER', 'a b', 'http://ghcr.io/a', '-x'])('%j is no reference', (reference) => {
  expect(parseImage(reference)).toBeNull();
});

it('knows the names of Docker Hub', () => {
  expect(['docker.io', 'Index.Docker.io', 'registry-1.docker.io'].map(registryHost)).toEqual(
    Array(3).fill('docker.io'),
  );
  expect(registryHost('GHCR.io')).toBe('ghcr.io');
});
