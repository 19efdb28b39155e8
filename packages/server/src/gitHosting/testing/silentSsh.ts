import ssh2 from 'ssh2';
import { openWire, type Wire } from '../../testing/greed.ts';

/** A connection to the SSH port, of somebody who may never log in. */
export interface Connection {
  isOpen(): boolean;
  close(): void;
}

export const IDENT = 'SSH-2.0-client\r\n';

/** The beginning of a key exchange (RFC 4253 7.1): the header of a packet of 1,004 bytes, and a few of them. */
export const HALF_KEY_EXCHANGE = Buffer.concat([
  Buffer.from(IDENT),
  Buffer.from([0, 0, 3, 236, 4, 20]),
  Buffer.alloc(16, 7),
  Buffer.from([0, 0, 0, 17]),
  Buffer.from('curve25519-sha256'),
]);

export const ofWire = (wire: Wire): Connection => ({ isOpen: wire.isOpen, close: wire.close });

/** Connects and sends this. */
export const sendOverSsh = async (
  port: number,
  sent: string | Buffer,
  options?: Parameters<typeof openWire>[2],
): Promise<Connection> => ofWire(await openWire(port, sent, options));

/** Exchanges keys, offers these private keys one after the other, and then waits. */
export async function offerKeys(port: number, keys: readonly string[], from?: string): Promise<Connection> {
  const client = new ssh2.Client();
  let isOpen = true;
  let offered = 0;
  const waits = Promise.withResolvers<void>();
  client.once('close', () => {
    isOpen = false;
    waits.resolve();
  });
  client.on('error', () => {});
  client.connect({
    ...{ host: '127.0.0.1', port, username: 'git', readyTimeout: 0 },
    ...(from && { localAddress: from }),
    authHandler(_methods, _partial, offer) {
      const key = keys[offered];
      offered += 1;
      if (key === undefined) waits.resolve();
      else offer({ type: 'publickey', username: 'git', key });
    },
  });
  client.once('ready', waits.resolve);
  await waits.promise;
  return { isOpen: () => isOpen, close: () => client.destroy() };
}

/** Opens it again whenever it is closed, until it is left. */
export function again(open: () => Promise<Wire>): { opened(): number; leave(): void } {
  let isLeft = false;
  let opened = 0;
  let wire: Wire | null = null;
  const go = async (): Promise<void> => {
    while (!isLeft) {
      wire = await open();
      opened += 1;
      await wire.closed;
    }
  };
  void go();
  return {
    opened: () => opened,
    leave() {
      isLeft = true;
      wire?.close();
    },
  };
}
