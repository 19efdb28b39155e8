import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { sleep } from './timing.ts';

const PROBE_TIMEOUT_MS = 2000;
const PROBE_INTERVAL_MS = 1000;

/**
 * Resolves when the platform becomes reachable after it was not, or at its first answer when `wasAway`. This shows that
 * the network is back before the timers of older connections do. Also resolves when the signal is aborted. Probes about
 * once a second.
 */
export async function waitUntilReachable(origin: string, wasAway: boolean, signal: AbortSignal): Promise<void> {
  for (let away = wasAway; !signal.aborted; await sleepWithJitter(signal)) {
    const answers = await isReachable(origin, signal);
    if (answers && away) return;
    away ||= !answers;
  }
}

/** Resolves when the platform has answered this many probes in a row. Also when the signal is aborted. */
export async function waitUntilStable(origin: string, answers: number, signal: AbortSignal): Promise<void> {
  for (let count = 0; !signal.aborted; await sleepWithJitter(signal)) {
    count = (await isReachable(origin, signal)) ? count + 1 : 0;
    if (count >= answers) return;
  }
}

/** Whether the platform's address answers, asked over a separate connection, as the link's may be dead. */
function isReachable(origin: string, signal: AbortSignal): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const url = new URL('/daemon-api/reach', origin);
  const send = url.protocol === 'https:' ? tlsRequest : plainRequest;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)]);
  const request = send(url, { agent: false, signal: limit }, (response) => {
    response.destroy();
    resolve(true);
  });
  request.on('error', () => resolve(false));
  request.end();
  return promise;
}

/** Jitter, as many servers lose the same platform at the same moment. */
function sleepWithJitter(signal: AbortSignal): Promise<void> {
  return sleep(PROBE_INTERVAL_MS * (0.75 + Math.random() / 2), signal);
}
