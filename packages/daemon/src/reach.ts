import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { pause } from './deadline.ts';

const PATIENCE_MS = 2000;
const EVERY_MS = 1000;

/**
 * Resolves when the platform answers after it did not, or answered not at all before the call (`wasAway`): the network
 * is back, whatever the timers of older connections think. Also when the signal is aborted. Asks about once a second.
 */
export async function untilBack(origin: string, wasAway: boolean, signal: AbortSignal): Promise<void> {
  for (let away = wasAway; !signal.aborted; await spread(signal)) {
    const answers = await reaches(origin, signal);
    if (answers && away) return;
    away ||= !answers;
  }
}

/** Resolves when the platform has answered so many questions in a row. Also when the signal is aborted. */
export async function untilSteady(origin: string, answers: number, signal: AbortSignal): Promise<void> {
  for (let count = 0; !signal.aborted; await spread(signal)) {
    count = (await reaches(origin, signal)) ? count + 1 : 0;
    if (count >= answers) return;
  }
}

/** Whether the platform's address answers at all; over a connection of its own, as the link's may be dead. */
function reaches(origin: string, signal: AbortSignal): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const url = new URL('/daemon-api/reach', origin);
  const send = url.protocol === 'https:' ? tlsRequest : plainRequest;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]);
  const request = send(url, { agent: false, signal: limit }, (response) => {
    response.destroy();
    resolve(true);
  });
  request.on('error', () => resolve(false));
  request.end();
  return promise;
}

/** Many servers lose the same platform at one moment. */
function spread(signal: AbortSignal): Promise<void> {
  return pause(EVERY_MS * (0.75 + Math.random() / 2), signal);
}
