import { text } from '@stagi/contract/text.ts';
import { type Machine, type Provider, ProviderError, type ProviderOffer } from '../provider.ts';
import type { FakeErrorReply, FakeMachine, FakeOffer } from './protocol.ts';

export interface FakeProviderOptions {
  url: string;
  environment: string;
  /** Timeout of a reply. */
  timeoutMs?: number;
  /** Without stop, as at some clouds: machines run until they are terminated. */
  isFixed?: boolean;
}

/** The simulated cloud, for tests and for trying the product. It has no real machines. */
export function createFakeProvider({
  url,
  environment,
  timeoutMs = 30_000,
  isFixed = false,
}: FakeProviderOptions): Provider {
  const ask = <T>(method: string, path: string, body?: unknown) => request<T>(url + path, method, timeoutMs, body);
  const machines = (query: Record<string, string>) =>
    ask<{ machines: FakeMachine[] }>('GET', `/v1/machines?${new URLSearchParams({ env: environment, ...query })}`);
  const change = async (method: string, ref: string, action = '') => {
    await ask(method, `/v1/machines/${encodeURIComponent(ref)}${action}`);
  };

  return {
    name: isFixed ? 'fake-fixed' : 'fake',
    title: isFixed ? text('Simulated cloud without stop') : text('Simulated cloud'),
    simulated: true,
    traits: {
      canStop: !isFixed,
      billedWhenStopped: true,
      readiness: 'provider',
      hostUsername: 'ubuntu',
      deadlineMs: 10 * 60_000,
      limit: { perSecond: 200, burst: 400 },
    },
    async readiness() {
      try {
        await ask('GET', '/v1/offers');
        return { state: 'ready' };
      } catch (error) {
        if (error instanceof ProviderError) return { state: 'unavailable', reason: error.message };
        throw error;
      }
    },
    async offers() {
      const { offers } = await ask<{ offers: FakeOffer[] }>('GET', '/v1/offers');
      return offers.map(presentOffer);
    },
    async start({ token, name, offerId, tags, userData }) {
      const { id } = await ask<{ id: string }>('POST', '/v1/machines', { token, name, offerId, tags, userData });
      return { ref: id };
    },
    async getMachine(name) {
      const [machine] = (await machines({ name })).machines;
      return machine ? presentMachine(machine) : null;
    },
    list: async () => (await machines({})).machines.map(presentMachine),
    ...(isFixed
      ? {}
      : {
          stop: (ref: string) => change('POST', ref, '/stop'),
          resume: (ref: string) => change('POST', ref, '/resume'),
        }),
    reboot: (ref) => change('POST', ref, '/reboot'),
    async terminate(ref) {
      try {
        await change('DELETE', ref);
      } catch (error) {
        if (error instanceof FakeCloudError && error.code === 'not-found') return;
        throw error;
      }
    },
  };
}

class FakeCloudError extends ProviderError {
  readonly code: FakeErrorReply['error']['code'];
  constructor(kind: ProviderError['kind'], { code, message }: FakeErrorReply['error'], retryAfterMs?: number) {
    super(kind, message, { retryAfterMs });
    this.code = code;
  }
}

async function request<T>(address: string, method: string, timeoutMs: number, body?: unknown): Promise<T> {
  let status: number;
  let reply: unknown;
  let retryAfterMs: number | undefined;
  try {
    const response = await fetch(address, {
      method,
      headers: { 'content-type': 'application/json' },
      body: body === undefined ? undefined : JSON.stringify(body),
      signal: AbortSignal.timeout(timeoutMs),
    });
    status = response.status;
    const seconds = response.headers.get('retry-after');
    if (seconds !== null) retryAfterMs = Number(seconds) * 1000;
    reply = await response.json();
  } catch (error) {
    throw connectionError(error, method);
  }
  if (status === 200) return reply as T;
  const refusal = reply as FakeErrorReply;
  // An error with a machine id: it was created nevertheless.
  if (refusal.id !== undefined) return { id: refusal.id } as T;
  throw new FakeCloudError(kindOf(refusal.error.code), refusal.error, retryAfterMs);
}

function connectionError(error: unknown, method: string): ProviderError {
  const cause = error instanceof Error ? error.cause : undefined;
  const neverSent = cause instanceof Error && 'code' in cause && cause.code === 'ECONNREFUSED';
  const kind = method === 'GET' || neverSent ? 'retryable' : 'unknown';
  const timedOut = error instanceof Error && error.name === 'TimeoutError';
  const message = timedOut ? 'The simulated cloud did not answer in time' : 'The simulated cloud cannot be reached';
  return new ProviderError(kind, message, { cause: error });
}

function kindOf(code: FakeErrorReply['error']['code']): ProviderError['kind'] {
  switch (code) {
    case 'rate-limited':
      return 'retryable';
    case 'internal':
      return 'unknown';
    case 'no-capacity':
      return 'noCapacity';
    case 'not-found':
    case 'conflict':
    case 'invalid':
      return 'permanent';
    default:
      return code satisfies never;
  }
}

function presentOffer(offer: FakeOffer): ProviderOffer {
  return {
    ...offer,
    pricePerHour: BigInt(offer.pricePerHour),
    stoppedPricePerHour: BigInt(offer.stoppedPricePerHour),
  };
}

function presentMachine(machine: FakeMachine): Machine {
  return { ...machine, createdAt: new Date(machine.createdAt) };
}
