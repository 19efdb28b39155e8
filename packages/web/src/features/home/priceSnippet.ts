import { api } from '@stagi/contract/api.ts';
import { API_PREFIX } from '@stagi/contract/call.ts';

/** A command that prints the price table. It needs curl and jq. */
export function priceSnippet(origin: string): string {
  return `curl -s ${origin}${API_PREFIX}${api.publicOffers.list.path} \\
  -H 'Content-Type: application/json' -d '{}' |
  jq -r '.entities[] | "\\(.pricePerHour.STAGI.decimalValue)\\t" +
    "\\(.gpu | if . then "\\(.count) x \\(.name)" else "CPU only" end)\\t" +
    "\\(.cpu.cores) cores, \\(.ramGb) GB"'`;
}
