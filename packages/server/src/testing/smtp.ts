import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

/** An SMTP server with authentication, which accepts and keeps every mail unless it is told otherwise. */
export interface Smtp {
  url: string;
  /** Received messages, newest last: to whom, as they came, and decoded. */
  mails: { to: string; recipients: string[]; raw: string; text: string }[];
  port: number;
  /** From now on it refuses every password, and repeats it. */
  refuse(): void;
  /** From now on it greets with this line; null: with none, it is silent. */
  greet(line: string | null): void;
  /** Refuses the next recipients for now, as a greylist does. */
  greylist(recipients: number): void;
  refuseSender(): void;
  /** Is as it was at first. */
  recover(): void;
  /** How many were refused. */
  refused(): number;
  close(): Promise<void>;
}

const GREETING = '220 test';

export async function startSmtp(user: string, password: string, atPort = 0): Promise<Smtp> {
  const mails: Smtp['mails'] = [];
  const sockets = new Set<Socket>();
  const wanted = Buffer.from(`\0${user}\0${password}`).toString('base64');
  let isRefusing = false;
  let refusesSender = false;
  let greeting: string | null = GREETING;
  let greylisted = 0;
  let refused = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    // A client that disconnects early sent no mail; tests look at the mails.
    socket.on('error', () => socket.destroy());
    talk(socket).catch(() => socket.destroy());
  });

  async function talk(socket: Socket): Promise<void> {
    const say = (line: string): void => void socket.write(`${line}\r\n`);
    let recipients: string[] = [];
    let data: string[] | null = null;
    let rest = '';
    if (greeting !== null) say(greeting);
    for await (const chunk of socket.setEncoding('utf8')) {
      const lines = (rest + String(chunk)).split('\r\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (data && line !== '.') data.push(line);
        else if (data) {
          const raw = data.join('\n');
          mails.push({ to: recipients.at(-1) ?? '', recipients, raw, text: decoded(raw) });
          data = null;
          recipients = [];
          say('250 taken');
        } else if (line === 'STARTTLS') say('502 no TLS here');
        else if (line.startsWith('EHLO')) say('250-test\r\n250 AUTH PLAIN');
        else if (line.startsWith('AUTH') && (isRefusing || line !== `AUTH PLAIN ${wanted}`)) {
          refused += 1;
          say(isRefusing ? `535 ${password} is not yours: ${line}` : '535 who are you');
        } else if (line.startsWith('AUTH')) say('235 welcome');
        else if (line.startsWith('MAIL') && refusesSender) say('550 5.7.1 not your address');
        else if (line.startsWith('RCPT') && greylisted > 0) {
          greylisted -= 1;
          say('451 4.7.1 come back later');
        } else if (line.startsWith('RCPT')) {
          recipients.push(line.match(/<(.*)>/)?.[1] ?? '');
          say('250 ok');
        } else if (line === 'DATA') {
          data = [];
          say('354 go on');
        } else say(line === 'QUIT' ? '221 bye' : '250 ok');
      }
    }
  }

  server.listen(atPort, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    url: `smtp://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}?ignoreTLS=true`,
    port,
    mails,
    refuse() {
      isRefusing = true;
    },
    greet(line) {
      greeting = line;
    },
    greylist(recipients) {
      greylisted = recipients;
    },
    refuseSender() {
      refusesSender = true;
    },
    recover() {
      isRefusing = false;
      refusesSender = false;
      greeting = GREETING;
      greylisted = 0;
    },
    refused: () => refused,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** Quoted-printable, as far as the mails of this product need it. */
function decoded(message: string): string {
  return message
    .replaceAll('=\n', '')
    .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
