import { BYTES_PER_MB } from '@stagi/contract/uploadLimits.ts';

export interface UploadedFile {
  fileName: string;
  /** The base64 body alone, without a prefix. */
  contentBase64: string;
  mimeType: string;
  /** A local address to show it from; `FileInput` makes and revokes it. */
  preview: string;
}

/** What was chosen, and by name what was left out and why. */
export interface Picked {
  taken: File[];
  wrongType: string[];
  tooLarge: string[];
  /** Listed already: nothing is lost by leaving it out. */
  listed: string[];
  tooMany: string[];
}

interface Rules {
  accept: readonly string[];
  /** In megabytes. */
  maxSize: number;
  maxFiles: number;
}

/** Which of the files join those that are listed. Later files of a name lose to earlier ones. */
export function pickFiles(files: readonly File[], listed: readonly { fileName: string }[], rules: Rules): Picked {
  const picked: Picked = { taken: [], wrongType: [], tooLarge: [], listed: [], tooMany: [] };
  const names = new Set(listed.map(({ fileName }) => fileName));
  for (const file of files) {
    if (names.has(file.name)) picked.listed.push(file.name);
    else if (!rules.accept.includes(file.type)) picked.wrongType.push(file.name);
    else if (file.size > rules.maxSize * BYTES_PER_MB) picked.tooLarge.push(file.name);
    else if (listed.length + picked.taken.length >= rules.maxFiles) picked.tooMany.push(file.name);
    else {
      names.add(file.name);
      picked.taken.push(file);
    }
  }
  return picked;
}

/** A pasted picture has no name of its own: every one is `image.png`. */
export function nameOfPasted(file: File, listed: readonly { fileName: string }[]): File {
  const match = /^image\.(\w+)$/.exec(file.name);
  if (!match) return file;
  const names = new Set(listed.map(({ fileName }) => fileName));
  let number = 1;
  while (names.has(`pasted-${number}.${match[1]}`)) number += 1;
  return new File([file], `pasted-${number}.${match[1]}`, { type: file.type });
}

export async function readFile(file: File): Promise<UploadedFile> {
  const address = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(new Error(`${file.name} cannot be read`, { cause: reader.error }));
    reader.readAsDataURL(file);
  });
  return {
    fileName: file.name,
    contentBase64: address.slice(address.indexOf(',') + 1),
    mimeType: file.type,
    preview: URL.createObjectURL(file),
  };
}
