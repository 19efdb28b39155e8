import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { expect, it } from 'vitest';
import { asPerson, asStranger, type Holder } from '../slots/holder.ts';
import { createIdleWatch, type Exchange } from './exchange.ts';
import { createAdmissions, PORT_PROXY_LIMITS } from './limits.ts';

const limits = { ...PORT_PROXY_LIMITS, perContainer: 3, perPerson: 2, perAddress: 1, total: 4 };
const [ada, ben, carl, dora] = [1, 2, 3, 4].map((id) => asPerson(id, null)) as [Holder, Holder, Holder, Holder];
const refused = { status: 429 };

it('limits the requests of a person, to a container, and of all', async () => {
  const admissions = createAdmissions(limits);
  const first = await admissions.admit(1, ada);
  await admissions.admit(1, ada);
  await expect(admissions.admit(2, ada)).rejects.toMatchObject(refused);
  await admissions.admit(1, ben);
  await expect(admissions.admit(1, carl)).rejects.toMatchObject(refused);
  await admissions.admit(2, carl);
  await expect(admissions.admit(3, dora)).rejects.toMatchObject(refused);
  expect(admissions.open).toBe(4);
  first();
  first();
  expect(admissions.open).toBe(3);
  await admissions.admit(1, ada);
  expect(admissions.open).toBe(4);
});

it('limits the requests of strangers by their address', async () => {
  const admissions = createAdmissions(limits);
  const end = await admissions.admit(1, asStranger('2001:db8::1'));
  await expect(admissions.admit(2, asStranger('2001:db8::2'))).rejects.toMatchObject(refused);
  await admissions.admit(2, asStranger('2001:db8:1::'));
  end();
  await admissions.admit(1, asStranger('2001:db8::2'));
});

it('limits the requests a second of a person to a container, and says when to try again', async () => {
  const admissions = createAdmissions({ ...limits, requestsPerSecond: 2, burstSeconds: 5 });
  for (let count = 0; count < 10; count += 1) (await admissions.admit(1, ada))();
  await expect(admissions.admit(1, ada)).rejects.toMatchObject({ status: 429, retryAfter: expect.any(Number) });
  (await admissions.admit(2, ada))();
  (await admissions.admit(1, ben))();
});

it('cuts what moves no byte, and nothing else', async () => {
  const watch = createIdleWatch();
  const server = createServer((socket) => socket.on('error', () => {}).pipe(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const dial = (): Socket => connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [silent, busy] = [dial(), dial()];
  await Promise.all([once(silent, 'connect'), once(busy, 'connect')]);
  busy.on('data', (data) => busy.write(data));
  busy.write('x');
  let isBusyCut = false;
  const cut = new Promise<string>((resolve) => {
    const exchange: Exchange = { idleMs: 500, cut: ({ kind }) => resolve(kind) };
    watch.watch(exchange, silent);
  });
  const unwatch = watch.watch(
    {
      idleMs: 500,
      cut() {
        isBusyCut = true;
      },
    },
    busy,
  );
  expect(await cut).toBe('slow');
  expect(isBusyCut).toBe(false);
  unwatch();
  watch.stop();
  silent.destroy();
  busy.destroy();
  server.close();
});
