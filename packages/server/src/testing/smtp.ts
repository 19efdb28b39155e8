import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';

/** An SMTP server with authentication, which accepts and keeps every mail. */
export interface Smtp {
  url: string;
  /** Received messages, newest last: to whom, as they came, and decoded. */
  mails: { to: string; recipients: string[]; raw: string; text: string }[];
  /** From now on it refuses every password. */
  refuse(): void;
  /** How many were refused. */
  refused(): number;
  close(): Promise<void>;
}

export async function startSmtp(user: string, password: string): Promise<Smtp> {
  const mails: Smtp['mails'] = [];
  const sockets = new Set<Socket>();
  const wanted = Buffer.from(`\0${user}\0${password}`).toString('base64');
  let isRefusing = false;
  let refused = 0;
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    // A client that disconnects early sent no mail; tests look at the mails.
    socket.on('error', () => socket.destroy());
    void talk(socket);
  });

  async function talk(socket: Socket): Promise<void> {
    const say = (line: string): void => void socket.write(`${line}\r\n`);
    let recipients: string[] = [];
    let data: string[] | null = null;
    let rest = '';
    say('220 test');
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
        } else if (line.startsWith('EHLO')) say('250-test\r\n250 AUTH PLAIN');
        else if (line.startsWith('AUTH') && (isRefusing || line !== `AUTH PLAIN ${wanted}`)) {
          refused += 1;
          say('535 who are you');
        } else if (line.startsWith('AUTH')) say('235 welcome');
        else if (line.startsWith('RCPT')) {
          recipients.push(line.match(/<(.*)>/)?.[1] ?? '');
          say('250 ok');
        } else if (line === 'DATA') {
          data = [];
          say('354 go on');
        } else say(line === 'QUIT' ? '221 bye' : '250 ok');
      }
    }
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  return {
    url: `smtp://${user}:${encodeURIComponent(password)}@127.0.0.1:${port}?ignoreTLS=true`,
    mails,
    refuse() {
      isRefusing = true;
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
