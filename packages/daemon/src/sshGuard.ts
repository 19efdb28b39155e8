import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { text } from '@stagi/contract/text.ts';
import { BRIDGE } from './dockerNetwork.ts';
import { errorText } from './log.ts';

const run = promisify(execFile);
const TIMEOUT_MS = 10_000;
const USUAL_PORT = 22;

/**
 * Drops what containers send to the SSH service of this server: `icc` keeps them from each other, not from the server's
 * own addresses. Other services stay reachable, as containers use them. Asked for again and again, as a firewall that is
 * reloaded forgets it. Returns why it cannot; null: it is so.
 */
export async function guardSsh(): Promise<string | null> {
  try {
    for (const port of await sshPorts()) await drop(port);
    return null;
  } catch (error) {
    return text('Containers can reach the SSH service of this server: {{error}}', { error: errorText(error) });
  }
}

async function drop(port: number): Promise<void> {
  const rule = ['INPUT', '-i', BRIDGE, '-p', 'tcp', '--dport', String(port), '-j', 'DROP'];
  const iptables = (change: '-C' | '-I') => run('iptables', ['-w', '5', change, ...rule], { timeout: TIMEOUT_MS });
  // A program that is missing or not allowed fails again, and then says why.
  await iptables('-C').catch(() => iptables('-I'));
}

/** As sshd reads its configuration. */
async function sshPorts(): Promise<number[]> {
  const { stdout } = await run('sshd', ['-T'], { timeout: TIMEOUT_MS }).catch(() => ({ stdout: '' }));
  const ports = [...stdout.matchAll(/^port (\d+)$/gm)].map(([, port]) => Number(port));
  return ports.length > 0 ? ports : [USUAL_PORT];
}
