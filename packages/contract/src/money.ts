/** Micro-units in one unit: amounts are kept as integers of 10⁻⁶. */
export const MICRO = 1_000_000n;

declare const micro: unique symbol;
/**
 * An amount of money in micro-units. Only `asMicro` makes one: neither a float nor any other count is accepted as money.
 */
export type Micro = bigint & { readonly [micro]: true };

const INT8_MAX = 2n ** 63n - 1n;

/** Brands a whole number of micro-units as money. Throws RangeError when it does not fit into an int8 column. */
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

/** `'1.2345'` → `1234500n`. Throws RangeError unless it is a decimal with at most six places. */
export function fromDecimal(text: string): Micro {
  const match = /^(-?)(\d+)(?:\.(\d{1,6}))?$/.exec(text);
  if (!match) throw new RangeError(`not an amount of money: ${JSON.stringify(text)}`);
  const amount = BigInt(match[2] ?? '0') * MICRO + BigInt((match[3] ?? '').padEnd(6, '0'));
  return asMicro(match[1] ? -amount : amount);
}
