import { text } from '@stagi/contract/text.ts';
import type Dockerode from 'dockerode';
import { ProviderError } from '../provider.ts';

/** Timeout of a call to Docker. */
const callTimeoutMs = 30_000;

/**
 * Runs a call to Docker with a timeout and turns its errors into `ProviderError`. `effect` says whether a call without an
 * answer may have changed something.
 */
export async function callDocker<T>(effect: 'none' | 'possible', work: () => Promise<T>): Promise<T> {
  const timeout = AbortSignal.timeout(callTimeoutMs);
  const lost = new Promise<never>((_, reject) =>
    timeout.addEventListener('abort', () =>
      reject(new ProviderError(effect === 'none' ? 'retryable' : 'unknown', 'Docker did not answer in time')),
    ),
  );
  try {
    return await Promise.race([work(), lost]);
  } catch (error) {
    throw toProviderError(error, effect);
  }
}

/** Why Docker cannot be used here, as a text for the user; `null` when it answers. */
export async function explainDockerUnavailable(docker: Dockerode): Promise<string | null> {
  try {
    const version = await callDocker('none', () => docker.version());
    if (version.Os !== 'linux' || process.platform !== 'linux')
      return text('The local cloud needs Docker Engine on Linux.');
    if (Number(version.ApiVersion.split('.')[1]) < 41 && version.ApiVersion.startsWith('1.')) {
      return text('The local cloud needs Docker 20.10 or newer; this machine runs {{version}}.', {
        version: version.Version,
      });
    }
    return null;
  } catch (error) {
    if (rootCode(error) === 'EACCES') {
      return text('This user cannot use Docker. Add it to the group "docker" and log in again, or run Stagi as root.');
    }
    if (rootCode(error) === 'ENOENT' || rootCode(error) === 'ECONNREFUSED') {
      return text(
        'Docker is not running on this machine. Install it with: apt-get install docker.io (or start it with: systemctl start docker)',
      );
    }
    return text('Docker is not responding: {{error}}', {
      error: error instanceof Error ? error.message : String(error),
    });
  }
}

export async function dockerAvailable(docker: Dockerode): Promise<boolean> {
  return (await explainDockerUnavailable(docker)) === null;
}

export function statusCode(error: unknown): number | null {
  const source = error instanceof ProviderError ? error.cause : error;
  if (typeof source !== 'object' || source === null || !('statusCode' in source)) return null;
  return typeof source.statusCode === 'number' ? source.statusCode : null;
}

/** The answer, or `fallback` when Docker answers with this status. */
export async function fallbackOnStatus<T, F>(status: number, fallback: F, work: () => Promise<T>): Promise<T | F> {
  try {
    return await work();
  } catch (error) {
    if (statusCode(error) === status) return fallback;
    throw error;
  }
}

export function toProviderError(error: unknown, effect: 'none' | 'possible'): ProviderError {
  if (error instanceof ProviderError) return error;
  const message = error instanceof Error ? error.message.trim() : String(error);
  const status = statusCode(error);
  if (/no space left on device/i.test(message)) {
    return new ProviderError('noCapacity', 'The disk of this machine is full', { cause: error });
  }
  if (status !== null) return new ProviderError(status >= 500 ? 'retryable' : 'permanent', message, { cause: error });
  const neverSent = ['ENOENT', 'ECONNREFUSED', 'EACCES'].includes(rootCode(error) ?? '');
  const kind = effect === 'none' || neverSent ? 'retryable' : 'unknown';
  return new ProviderError(kind, text('Docker is not responding: {{error}}', { error: message }), { cause: error });
}

function rootCode(error: unknown): string | null {
  const source = error instanceof ProviderError ? error.cause : error;
  if (typeof source !== 'object' || source === null || !('code' in source)) return null;
  return typeof source.code === 'string' ? source.code : null;
}
