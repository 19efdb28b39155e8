export const scrapeMetrics = async (address: string): Promise<string> => (await fetch(`${address}/metrics`)).text();

/** The value of a series, by its name and some of its labels. */
export function sample(text: string, name: string, ...labels: string[]): number | undefined {
  const line = text
    .split('\n')
    .find((each) => each.startsWith(name) && labels.every((label) => each.includes(label)) && !each.startsWith('#'));
  return line === undefined ? undefined : Number(line.split(' ').at(-1));
}
