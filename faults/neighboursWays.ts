/** Ways in which slow and greedy clients attack a listener of a platform, and those that need no account. */
import { Agent } from 'node:http';
import { ATTACKERS_ADDRESS, type Held, hold, openSocket, upgrade } from './neighboursClients.ts';

/** Where the listeners of a platform are. */
export interface Target {
  url: string;
  s3Url: string;
  gitSshPort: number;
}

/** The belongings of one account, in workspaces of its own. */
export interface Account {
  workspaces: { id: number; token: string; slug: string }[];
  projectId: number;
  bombBranch: string;
  largeBranch: string;
  largeFile: string;
  /** With a long log. */
  containerId: number;
  bucket: string;
  largeKey: string;
  s3Key: { accessKeyId: string; secretAccessKey: string };
  sshKey: string;
}

export interface SlowWay {
  name: string;
  /** Connections of so many clients. */
  holds(clients: number): number;
  open(number: number): Promise<Held>;
}

export interface GreedyWay {
  name: string;
  /** One request. Answers how it ended, as `200`. */
  ask(number: number): Promise<string>;
}

export interface Ways {
  slow: SlowWay[];
  greedy: GreedyWay[];
}

export const API = '/frontend-api/';
export const JSON_TYPE = { 'content-type': 'application/json' };

export const each = (clients: number): number => clients;
export const timesEach =
  (count: number) =>
  (clients: number): number =>
    clients * count;

export const agentOfAttackers = (): Agent => new Agent({ keepAlive: true, localAddress: ATTACKERS_ADDRESS });
export const portOf = (url: string): number => Number(new URL(url).port);

const LINK = '/daemon-api/link';

/** Links whose challenge is never answered. */
export const linkOpenings = ({ url }: Target): SlowWay => ({
  name: 'links',
  holds: timesEach(2),
  open: () => hold({ port: portOf(url), first: upgrade(new URL(url).host, LINK), reads: true }),
});

/** Links whose challenge is answered wrongly. */
export const linkAttempts = ({ url }: Target, signal: AbortSignal): GreedyWay => ({
  name: 'links',
  async ask() {
    const { outcome, socket } = await openSocket(url, LINK, signal);
    if (outcome !== 'opened') return String(outcome);
    const closed = new Promise<string>((resolve) => socket.once('close', (code: number) => resolve(`close ${code}`)));
    socket.send(JSON.stringify({ type: 'auth', node: '1', proof: 'none' }));
    return closed;
  },
});
