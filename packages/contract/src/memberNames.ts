/** One name of a path inside of an archive: nothing that some program that unpacks would read as more than a name. */
export function memberName(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is replaced
  const plain = name.replace(/[\\/:\u0000-\u001f\u007f]/g, '_');
  return /^\.{0,2}$/.test(plain) ? '_' : plain;
}
