import type { Order } from './stage.ts';

/** Servers of eight workspaces: most can be stopped, some cannot, one workspace has only such; three get a credit. */
export function ordersFor(servers: number): Order[] {
  const share = (part: number): number => Math.max(1, Math.round(servers * part));
  const others: Order[] = [
    { stoppable: share(0.15), fixed: 0, isCredited: false },
    { stoppable: share(0.1), fixed: share(0.05), isCredited: false },
    { stoppable: share(0.05), fixed: share(0.05), isCredited: false },
    { stoppable: 0, fixed: share(0.05), isCredited: false },
    { stoppable: share(0.1), fixed: 0, isCredited: true },
    { stoppable: share(0.05), fixed: 0, isCredited: true },
    { stoppable: share(0.05), fixed: share(0.05), isCredited: true },
  ];
  const taken = others.reduce((sum, { stoppable, fixed }) => sum + stoppable + fixed, 0);
  return [{ stoppable: Math.max(1, servers - taken), fixed: 0, isCredited: false }, ...others];
}
