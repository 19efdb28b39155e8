import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';

const CONFLICT = 75;

/**
 * Takes the lock of a file (flock(2)), calls `onWait` once before it waits for another holder, and returns the function
 * that releases it. With `wait: false` it returns null instead of waiting; `signal` ends the wait with an error. No
 * dependencies: the bootstrap uses it.
 *
 * Node has no call for such locks and closes inherited descriptors for its children, so `flock` of util-linux holds the
 * lock until its input ends: the kernel ends that with this process, after `kill -9` too.
 */
export async function lockFile(file, { wait = true, onWait, signal } = {}) {
  mkdirSync(dirname(file), { recursive: true });
  const free = await hold(file, ['--nonblock', `--conflict-exit-code=${CONFLICT}`]);
  if (free || !wait) return free;
  onWait?.();
  return await hold(file, [], signal);
}

/** Null when another process holds it and the options say not to wait. */
async function hold(file, options, signal) {
  // In a process group of its own: Ctrl-C in the terminal must not release the lock before its owner has ended.
  const child = spawn('flock', [...options, file, 'sh', '-c', 'echo held; exec cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  const exited = once(child, 'exit');
  const stopWaiting = () => child.kill();
  signal?.addEventListener('abort', stopWaiting);
  if (signal?.aborted) stopWaiting();
  const first = await Promise.race([once(child.stdout, 'data').then(() => 'held'), exited.then(([code]) => code)])
    .catch((error) => {
      throw new Error(`${file} cannot be locked: flock of util-linux does not start (${error.message})`);
    })
    .finally(() => signal?.removeEventListener('abort', stopWaiting));
  if (first === CONFLICT) return null;
  if (signal?.aborted) {
    child.stdin.end();
    throw new Error(`${file} is not waited for any longer`);
  }
  if (first !== 'held') throw new Error(`${file} cannot be locked: flock ended with ${first}`);
  child.stdout.destroy();
  child.stdin.unref();
  child.unref();
  return async () => {
    child.ref();
    child.stdin.end();
    await exited;
  };
}
