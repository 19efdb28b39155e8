import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import * as cloud from './cloud.ts';
import {
  FAKE_FAULT_KINDS,
  FAKE_OPERATIONS,
  type FakeFaultRule,
  type FakeOperation,
  type FakeStart,
  type FakeStray,
} from './protocol.ts';
import { readState, writeState } from './stateFile.ts';

/**
 * The fake cloud: a separate process on loopback, whose machines exist only in its state file.
 * `node main.ts --state=FILE [--port=0] [--provision-ms=120000]`; prints one line of JSON with its address.
 */
const { values: options } = parseArgs({
  options: {
    state: { type: 'string' },
    port: { type: 'string', default: '0' },
    'provision-ms': { type: 'string', default: '120000' },
  },
});
if (!options.state) throw new Error('--state=FILE is missing');
const statePath = options.state;
const fresh = () => cloud.newCloud({ provisionMs: Number(options['provision-ms']), realMs: Date.now() });
let state = readState(statePath) ?? fresh();
save();

const server = createServer((request, response) => {
  handle(request, response).catch((error: unknown) => {
    if (error instanceof cloud.CloudError) return reply(response, error.status, error.reply);
    console.error(error);
    response.destroy();
  });
});
server.listen(Number(options.port), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(JSON.stringify({ url: `http://127.0.0.1:${port}` }));
});

async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://fake');
  const content = await text(request);
  const body: unknown = content ? JSON.parse(content) : {};
  const [area, ...path] = url.pathname.slice(1).split('/');
  if (area === 'admin') return admin(`${request.method} ${path.join('/')}`, body, response);
  if (area !== 'v1') throw new cloud.CloudError(404, 'not-found', url.pathname);
  const call = parseCall(request.method ?? 'GET', path, url.searchParams, body);
  await runCall(call, response);
}

interface Call {
  operation: FakeOperation;
  /** For the event log; `null` for calls that only read. */
  subject: string | null;
  /** The machine it changes. */
  ref?: string;
  run(rule: ReturnType<typeof cloud.takeFault>): unknown;
}

function parseCall(method: string, [collection, ref, action]: string[], query: URLSearchParams, body: unknown): Call {
  switch (`${method} ${collection}${ref ? '/:ref' : ''}${action ? `/${action}` : ''}`) {
    case 'GET offers':
      return { operation: 'offers', subject: null, run: () => ({ offers: cloud.listOffers(state) }) };
    case 'POST machines': {
      const request = body as FakeStart;
      const run: Call['run'] = (rule) => ({ id: cloud.start(state, request, rule?.fault ?? null).ref });
      return { operation: 'start', subject: request.name, run };
    }
    case 'GET machines': {
      const name = query.get('name');
      const named = (rule: ReturnType<typeof cloud.takeFault>) =>
        cloud.list(state, query.get('env') ?? '', rule).filter((machine) => name === null || machine.name === name);
      return { operation: name === null ? 'list' : 'look', subject: null, run: (rule) => ({ machines: named(rule) }) };
    }
    case 'POST machines/:ref/stop':
      return { operation: 'stop', subject: machineName(ref!), ref, run: () => cloud.stop(state, ref!) };
    case 'POST machines/:ref/resume':
      return { operation: 'resume', subject: machineName(ref!), ref, run: () => cloud.resume(state, ref!) };
    case 'POST machines/:ref/reboot':
      return { operation: 'reboot', subject: machineName(ref!), ref, run: () => cloud.reboot(state, ref!) };
    case 'DELETE machines/:ref':
      return {
        operation: 'terminate',
        subject: machineName(ref!),
        ref,
        run: (rule) => cloud.terminate(state, ref!, rule?.fault ?? null),
      };
    default:
      throw new cloud.CloudError(404, 'not-found', 'No such call');
  }
}

async function runCall(call: Call, response: ServerResponse): Promise<void> {
  const rule = cloud.takeFault(state, call.operation);
  const fault = rule?.fault.kind;
  const note = (outcome: string, ref: string | null = null) => {
    if (call.subject !== null) cloud.record(state, { operation: call.operation, name: call.subject, ref, outcome });
    if (call.subject !== null || rule) save();
  };
  if (fault === 'rateLimited' || fault === 'internal' || fault === 'hang') {
    note(fault);
    if (fault === 'rateLimited') {
      const seconds = rule?.fault.kind === 'rateLimited' ? rule.fault.retryAfterS : undefined;
      if (seconds !== undefined) response.setHeader('retry-after', seconds);
      throw new cloud.CloudError(429, 'rate-limited', 'Too many requests');
    }
    if (fault === 'internal') throw new cloud.CloudError(500, 'internal', 'Something went wrong');
    return; // the asker waits for ever
  }
  if (rule?.fault.kind === 'visibilityLag' && call.ref) cloud.hideChange(state, call.ref, rule.fault.lagMs);
  let answer: unknown;
  try {
    answer = call.run(rule) ?? {};
  } catch (error) {
    note(error instanceof cloud.CloudError ? error.reply.error.code : 'bug');
    throw error;
  }
  const id = idOf(answer);
  note(fault ?? 'done', id);
  if (fault === 'effectThenTimeout') return;
  if (fault === 'effectThenReset') return void response.destroy();
  if (fault === 'effectThenErrorWithId') {
    return reply(response, 500, {
      error: { code: 'internal', message: 'Something went wrong' },
      ...(id ? { id } : {}),
    });
  }
  if (rule?.fault.kind === 'slow') {
    const { promise, resolve } = Promise.withResolvers<void>();
    setTimeout(resolve, rule.fault.delayMs);
    await promise;
  }
  reply(response, 200, answer);
}

/** Control calls for tests and demos; a real cloud has none of them. */
function admin(call: string, body: unknown, response: ServerResponse): void {
  switch (call) {
    case 'GET report':
      reply(response, 200, cloud.report(state));
      return;
    case 'POST faults': {
      const rule = body as FakeFaultRule;
      if (!FAKE_OPERATIONS.includes(rule.on) || !FAKE_FAULT_KINDS.includes(rule.fault?.kind)) {
        throw new cloud.CloudError(422, 'invalid', `No fault ${rule.fault?.kind} on ${rule.on}`);
      }
      cloud.addFault(state, rule);
      break;
    }
    case 'DELETE faults':
      state.faults = [];
      break;
    case 'POST clock':
      cloud.setClock(state, body as { scale?: number; advanceMs?: number });
      break;
    case 'POST capacity': {
      const { offerId, count } = body as { offerId: string; count: number };
      state.capacity[offerId] = count;
      break;
    }
    case 'POST vanish': {
      const { name } = body as { name: string };
      const { ref } = cloud.byName(state, name);
      cloud.vanish(state, name);
      cloud.record(state, { operation: 'vanish', name, ref, outcome: 'done' });
      break;
    }
    case 'POST fail': {
      const { name, detail } = body as { name: string; detail: string };
      cloud.fail(state, name, detail);
      cloud.record(state, { operation: 'fail', name, ref: cloud.byName(state, name).ref, outcome: 'done' });
      break;
    }
    case 'POST strays': {
      for (const stray of body as FakeStray[]) {
        const { ref } = cloud.addStray(state, stray);
        cloud.record(state, { operation: 'stray', name: stray.name, ref, outcome: 'done' });
      }
      break;
    }
    case 'POST reset':
      // No cloud uses a ref twice: a late request for a machine from before must not meet one from after.
      state = { ...fresh(), nextNumber: state.nextNumber };
      break;
    default:
      throw new cloud.CloudError(404, 'not-found', 'No such call');
  }
  save();
  reply(response, 200, {});
}

function machineName(ref: string): string {
  return cloud.findMachine(state, ref).name;
}

function idOf(answer: unknown): string | null {
  if (typeof answer !== 'object' || answer === null || !('id' in answer)) return null;
  return typeof answer.id === 'string' ? answer.id : null;
}

function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function save(): void {
  writeState(statePath, state);
}
