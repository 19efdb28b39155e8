/** `--name=value` of the command line as a number. */
export function option(name: string, otherwise: number): number {
  const given = process.argv.find((argument) => argument.startsWith(`--${name}=`));
  return given === undefined ? otherwise : Number(given.slice(name.length + 3));
}

/** A seed to print: the one that `--seed=` asks for, else a new one. */
export const newSeed = (): number => option('seed', Date.now() % 2 ** 31);

/** A small seeded generator (mulberry32, Tommy Ettinger, 2017). */
export function seeded(seed: number): () => number {
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
