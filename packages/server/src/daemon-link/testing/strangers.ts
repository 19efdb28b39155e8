import { randomBytes } from 'node:crypto';
import { WebSocket } from 'ws';
import { headOf, openWire, portOf } from '../../testing/greed.ts';

/** Somebody who opens links and never proves who they are. */
export interface Stranger {
  isOpen(): boolean;
  /** Openings so far, and those that were refused. */
  opened(): number;
  refused(): number;
  leave(): void;
}

/** An open link, which its stranger does something with. */
export interface OpenLink {
  send(data: string | Buffer): void;
  ping(): void;
  close(): void;
}

const LINK = '/daemon-api/link';

interface Habits {
  /** Its own address. */
  from?: string;
  /** It comes again only until it was let in once; else whenever its link is closed. */
  once?: boolean;
}

/** Opens a link, and another whenever it is closed or refused, until it is left. */
export function comeAgain(
  url: string,
  onOpen: (link: OpenLink) => void,
  { from, once: isModest = false }: Habits = {},
): Stranger {
  let [isLeft, isOpen, opened, refused] = [false, false, 0, 0];
  let socket: WebSocket;
  const go = (): void => {
    if (isLeft || (isModest && opened > 0)) return;
    socket = new WebSocket(url.replace('http', 'ws') + LINK, {
      perMessageDeflate: false,
      ...(from && { localAddress: from }),
    });
    const link: OpenLink = {
      send: (data) => socket.send(data, () => {}),
      ping: () => socket.ping(undefined, undefined, () => {}),
      close: () => socket.close(),
    };
    socket.on('open', () => {
      isOpen = true;
      opened += 1;
      onOpen(link);
    });
    // A refused link closes right after.
    socket.on('error', () => {
      refused += isOpen ? 0 : 1;
    });
    socket.on('close', () => {
      isOpen = false;
      setImmediate(go);
    });
  };
  go();
  return {
    isOpen: () => isOpen,
    opened: () => opened,
    refused: () => refused,
    leave() {
      isLeft = true;
      socket.terminate();
    },
  };
}

const upgrade = (url: string): string =>
  headOf('GET', LINK, {
    host: new URL(url).host,
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': 13,
    'sec-websocket-key': randomBytes(16).toString('base64'),
  });

/** Opens a link once it may, without a library: what follows need be no frame. */
export function comeRaw(url: string, afterwards: Buffer, drips?: Buffer): Stranger {
  let [isLeft, isOpen, opened, refused] = [false, false, 0, 0];
  let leave = (): void => {};
  const go = async (): Promise<void> => {
    while (!isLeft && opened === 0) {
      const wire = await openWire(portOf(url), upgrade(url));
      leave = wire.close;
      let timer: NodeJS.Timeout | undefined;
      wire.socket.on('data', () => {
        if (wire.status() !== 101 || isOpen) return;
        isOpen = true;
        opened += 1;
        wire.socket.write(afterwards);
        if (drips) timer = setInterval(() => wire.socket.write(drips), 300);
      });
      await wire.closed;
      clearInterval(timer);
      if (!isOpen) refused += 1;
      isOpen = false;
    }
  };
  void go();
  return {
    isOpen: () => isOpen,
    opened: () => opened,
    refused: () => refused,
    leave() {
      isLeft = true;
      leave();
    },
  };
}

/** The beginning of a text frame of so many bytes (RFC 6455 5.2), with a mask of zeros. */
export function beginningOfFrame(length: number, text: string, isLast = true): Buffer {
  const head = Buffer.alloc(14);
  head[0] = isLast ? 0x81 : 0x01;
  head[1] = 0x80 | 127;
  head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, Buffer.from(text)]);
}

/** A part of a message that goes on. */
export const CONTINUATION = Buffer.from([0x00, 0x81, 0, 0, 0, 0, 0x78]);
