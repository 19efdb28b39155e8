import { site } from '../api/site.ts';

let hosts: string[] = [];

/** Whoever walks the demo is not the person of the made-up workspace: what they do there is no event. */
export function trackNobody(): void {
  hosts = site().analyticsHosts;
  site().analyticsHosts = [];
}

/** An event of the visitor themselves. */
export function asVisitor(told: () => void): void {
  site().analyticsHosts = hosts;
  told();
  site().analyticsHosts = [];
}
