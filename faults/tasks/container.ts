import { docker } from '@stagi/daemon/src/testing/image.ts';
import type { Place } from './secrets.ts';

/** A container of a run, as whoever controls its processes sees it. */
export interface RunContainer {
  dockerId: string;
  /** All that Docker tells of it, its environment included. */
  settings(): Promise<Place>;
  /** All its files. */
  files(): Promise<Place>;
  /** What `/proc` tells of every process in it. */
  processes(): Promise<Place>;
  log(): Promise<Place>;
  /** Runs a line of shell in it; answers what it printed. */
  run(line: string): Promise<string>;
}

const PROC = 'for p in /proc/[0-9]*; do cat $p/environ $p/cmdline $p/mountinfo 2>/dev/null; done; true';

export async function containerOf(labels: Record<string, string>, containerId: number): Promise<RunContainer> {
  const label = [...Object.entries(labels), ['stagi.id', String(containerId)]].map(
    ([name, value]) => `${name}=${value}`,
  );
  const [found] = await docker.listContainers({ all: true, filters: { label } });
  if (!found) throw new Error(`Docker has no container ${containerId}`);
  const container = docker.getContainer(found.Id);

  async function run(line: string): Promise<string> {
    const exec = await container.exec({ Cmd: ['sh', '-c', line], AttachStdout: true, AttachStderr: true, Tty: true });
    return (await everything(await exec.start({ Tty: true }))).toString('latin1');
  }
  return {
    dockerId: found.Id,
    run,
    settings: async () => ({ name: 'its settings', bytes: Buffer.from(JSON.stringify(await container.inspect())) }),
    files: async () => ({ name: 'its files', bytes: await everything(await container.export()) }),
    processes: async () => ({ name: 'its processes', bytes: Buffer.from(await run(PROC), 'latin1') }),
    async log() {
      const bytes = await container.logs({ stdout: true, stderr: true, follow: false });
      return { name: 'its log', bytes: Buffer.from(bytes as unknown as Buffer) };
    },
  };
}

async function everything(stream: NodeJS.ReadableStream): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
