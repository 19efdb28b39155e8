/** Micro-units in one unit: amounts are kept as integers of 10⁻⁶. */
export const MICRO = 1_000_000n;

declare const micro: unique symbol;
/**
 * An amount of money in micro-units. Only what `micro` has looked at is one: neither a float nor a count of anything
 * else gets where money is asked for.
 */
export type Micro = bigint & { readonly [micro]: true };

const INT8_MAX = 2n ** 63n - 1n;

/** Takes a whole number of micro-units for money. Throws RangeError for what a ledger cannot hold. */
export function asMicro(amount: bigint): Micro {
  if (typeof amount !== 'bigint' || amount > INT8_MAX || amount < -INT8_MAX)
    throw new RangeError(`not an amount of money: ${String(amount)}`);
  return amount as Micro;
}

/** `1234500n` → `'1.2345'`: at least two decimals, at most six. */
export function toDecimal(micro: bigint): string {
  const sign = micro < 0n ? '-' : '';
  const absolute = micro < 0n ? -micro : micro;
  const fraction = (absolute % MICRO)
    .toString()
    .padStart(6, '0')
    .replace(/0{1,4}$/, '');
  return `${sign}${absolute / MICRO}.${fraction}`;
}

/** `'1.2345'` → `1234500n`. Throws RangeError when it is no decimal of at most six places. */
export function fromDecimal(text: string): Micro {
  const match = /^(-?)(\d+)(?:\.(\d{1,6}))?$/.exec(text);
  if (!match) throw new RangeError(`not an amount of money: ${JSON.stringify(text)}`);
  const amount = BigInt(match[2] ?? '0') * MICRO + BigInt((match[3] ?? '').padEnd(6, '0'));
  return asMicro(match[1] ? -amount : amount);
}
