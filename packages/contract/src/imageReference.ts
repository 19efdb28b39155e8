import { DockerImage } from './containerFields.ts';

/** The registry that an image without a host is pulled from, as people name it. */
export const DOCKER_HUB = 'docker.io';
const HUB_ALIASES = ['docker.io', 'index.docker.io', 'registry-1.docker.io', 'registry.hub.docker.com'];

export interface ImageReference {
  /** `docker.io`, `ghcr.io`, `registry.example:5000`. */
  host: string;
  /** `library/ubuntu`, `owner/name`. */
  path: string;
  tag: string | null;
  digest: string | null;
}

/** The name that all names of a registry stand for: Docker Hub has several. */
export function registryHost(host: string): string {
  const plain = host.toLowerCase();
  return HUB_ALIASES.includes(plain) ? DOCKER_HUB : plain;
}

/** Null for what is no reference. As Docker reads one: the first part is a host if it has a dot or a port, or is localhost. */
export function parseImage(reference: string): ImageReference | null {
  if (!DockerImage.safeParse(reference).success) return null;
  const [named = '', digest = null] = reference.split('@');
  const slash = named.indexOf('/');
  const first = named.slice(0, Math.max(0, slash));
  const hasHost = /[.:]/.test(first) || first === 'localhost' || first !== first.toLowerCase();
  const rest = hasHost ? named.slice(slash + 1) : named;
  const colon = rest.lastIndexOf(':');
  const bare = colon < 0 ? rest : rest.slice(0, colon);
  const host = hasHost ? registryHost(first) : DOCKER_HUB;
  return {
    host,
    path: host === DOCKER_HUB && !bare.includes('/') ? `library/${bare}` : bare,
    tag: colon < 0 ? null : rest.slice(colon + 1),
    digest,
  };
}

/** One text for all references to the same image, as Docker lists it: `ubuntu:latest`, `ghcr.io/owner/name@sha256:…`. */
export function canonicalImage(reference: string): string {
  const parsed = parseImage(reference);
  if (!parsed) return reference;
  const { host, path, tag, digest } = parsed;
  const name = host === DOCKER_HUB ? path.replace(/^library\//, '') : `${host}/${path}`;
  return digest ? `${name}@${digest}` : `${name}:${tag ?? 'latest'}`;
}
