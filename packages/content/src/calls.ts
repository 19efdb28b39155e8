import { api } from '@stagi/contract/api.ts';
import type { Call } from '@stagi/contract/call.ts';

export interface NamedCall {
  /** As in the call table, such as `apiTokens`. */
  domain: string;
  /** Such as `create`. */
  name: string;
  call: Call;
  /** Where the reference describes it. */
  address: string;
}

/** `apiTokens` is `api-tokens` in addresses. */
export const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

export const REFERENCE = '/docs/api';

/** The call table by domains, in its order. */
export const DOMAINS: ReadonlyMap<string, readonly NamedCall[]> = new Map(
  Object.entries(api).map(([domain, calls]) => [
    domain,
    Object.entries(calls as Record<string, Call>).map(([name, call]) => ({
      domain,
      name,
      call,
      address: `${REFERENCE}/${kebab(domain)}#${kebab(name)}`,
    })),
  ]),
);

const byName = new Map([...DOMAINS.values()].flat().map((named) => [`${named.domain}.${named.name}`, named]));

/** The call of a name such as `instances.rent`. */
export const callNamed = (name: string): NamedCall | undefined => byName.get(name);
