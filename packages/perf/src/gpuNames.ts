import type { Gpu } from './catalogue.ts';

/** Words that tell two forms of one chip apart. */
const FORMS = ['sxm', 'pcie', 'nvl', 'server', 'ws', 'workstation'];
/** Words of a name that say nothing about the chip. */
const NOISE = /\b(simulated|nvidia|amd|tesla|geforce|instinct|graphics|gpu|hbm\w*|gddr\w*|edition|generation|per)\b/g;
const MEMORY = /\b\d+ ?gi?b\b/g;

/**
 * The GPU of the catalogue that a driver or a cloud calls by this name, such as `NVIDIA H100 80GB HBM3` or `L40S`.
 * Several that differ by form or memory: those of the stated memory, then the stated form, then the slowest, so that
 * nothing is promised that a name does not say. `undefined`: none of them.
 */
export function gpuOf(gpus: readonly Gpu[], name: string, memoryGb: number): Gpu | undefined {
  const wanted = wordsOf(name);
  const chip = wanted.filter((word) => !isForm(word));
  const found = gpus.filter((gpu) => {
    const words = wordsOf(gpu.name).filter((word) => !isForm(word));
    return words.length === chip.length && words.every((word) => chip.includes(word)) && isAbout(gpu, memoryGb);
  });
  const ofForm = found.filter((gpu) => formsOf(wordsOf(gpu.name)).some((form) => formsOf(wanted).includes(form)));
  const [slowest] = (ofForm.length > 0 ? ofForm : found).toSorted(
    (a, b) => a.memoryBandwidthGBs - b.memoryBandwidthGBs,
  );
  return slowest;
}

function wordsOf(name: string): string[] {
  const words = name
    .toLowerCase()
    .replace(/\([^()]*\)/g, ' ')
    .replace(/[-_/]/g, ' ')
    .replace(MEMORY, ' ')
    .replace(NOISE, ' ');
  return words.split(/\s+/).filter((word) => word !== '');
}

const formsOf = (words: readonly string[]): string[] =>
  words.filter(isForm).map((word) => FORMS.find((form) => word.startsWith(form))!.replace('workstation', 'ws'));
const isForm = (word: string): boolean => FORMS.some((form) => word.startsWith(form));

/** Drivers report up to 7 % less than what is marketed; nobody reports more than a few percent above it. */
const isAbout = ({ memoryGb }: Gpu, reported: number): boolean =>
  reported > memoryGb * 0.88 && reported < memoryGb * 1.08;
