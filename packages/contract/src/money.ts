/** Micro-units in one unit: amounts are kept as integers of 10⁻⁶. */
export const MICRO = 1_000_000n;

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
export function fromDecimal(text: string): bigint {
  const match = /^(-?)(\d+)(?:\.(\d{1,6}))?$/.exec(text);
  if (!match) throw new RangeError(`not an amount of money: ${JSON.stringify(text)}`);
  const micro = BigInt(match[2] ?? '0') * MICRO + BigInt((match[3] ?? '').padEnd(6, '0'));
  return match[1] ? -micro : micro;
}
