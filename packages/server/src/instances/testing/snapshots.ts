import type { Machine } from '../../providers/provider.ts';
import type { Effect, InstanceSnapshot, ProviderOp } from '../snapshot.ts';

export const NOW = new Date('2026-05-01T12:00:00Z');
export const ago = (seconds: number): Date => new Date(NOW.getTime() - seconds * 1000);

export const machine = (state: Machine['state'], ip: string | null = '203.0.113.5'): Machine => ({
  ref: 'm-1',
  name: 'stagi-test-1',
  tags: {},
  state,
  ip,
  detail: null,
  createdAt: ago(600),
});

export const op = (kind: Effect, change: Partial<ProviderOp> = {}): ProviderOp => ({
  id: '6b9c0c1e-0000-4000-8000-000000000000',
  instance_id: 1,
  kind,
  gen: 1,
  params: {},
  state: 'done',
  error: null,
  created_at: ago(600),
  finished_at: ago(600),
  ...change,
});

export const daemon = (change: Partial<NonNullable<InstanceSnapshot['daemon']>> = {}): InstanceSnapshot['daemon'] => ({
  connectedAt: ago(5),
  disconnectedAt: null,
  seenAt: ago(1),
  ...change,
});

/** A snapshot of an ordinary online server, with the given changes. */
export function snapshot(
  row: Partial<InstanceSnapshot['row']>,
  {
    machine: seen = null,
    ops = {},
    daemon: node = null,
    traits = { readiness: 'daemon' },
  }: Partial<InstanceSnapshot> = {},
): InstanceSnapshot {
  return {
    now: NOW,
    row: {
      id: 1,
      workspace_id: 1,
      kind: 'rented',
      slug: 's',
      title: 't',
      created_by: 1,
      created_at: ago(600),
      closed_at: null,
      status: 'online',
      status_since: ago(60),
      status_seen_at: null,
      status_deadline: null,
      status_reason: null,
      desired: 'running',
      gen: 1,
      reboot_wanted: 0,
      reboot_done: 0,
      provider: 'fake',
      offer: null,
      provider_ref: 'm-1',
      machine_state: null,
      ip: null,
      host_username: null,
      price_per_hour: 1n,
      stopped_price_per_hour: 0n,
      progress: {},
      machine_name: null,
      running_seen_at: null,
      zero_stopped_at: null,
      lock_token: null,
      lock_owner: null,
      lock_expires_at: null,
      next_at: null,
      attempts: 0,
      last_error: null,
      misses: 0,
      missed_at: null,
      ...row,
    },
    machine: seen,
    ops,
    daemon: node,
    traits,
  };
}

export const past = { status_deadline: ago(1) };
