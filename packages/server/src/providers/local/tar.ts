export interface TarFile {
  /** Relative, at most 100 bytes. */
  path: string;
  mode: number;
  content: string;
}

/** A tar archive (POSIX.1-1988 "ustar") of a few small files owned by root: what Docker's archive calls take. */
export function tar(files: TarFile[]): Buffer {
  const blocks = files.flatMap((file) => {
    const content = Buffer.from(file.content);
    return [header(file.path, file.mode, content.length), content, Buffer.alloc(-content.length & 511)];
  });
  return Buffer.concat([...blocks, Buffer.alloc(1024)]);
}

function header(path: string, mode: number, size: number): Buffer {
  if (Buffer.byteLength(path) > 100) throw new Error(`The path is too long for this archive: ${path}`);
  const block = Buffer.alloc(512);
  const octal = (value: number, offset: number, length: number) =>
    block.write(`${value.toString(8).padStart(length - 1, '0')}\0`, offset);
  block.write(path, 0);
  octal(mode, 100, 8);
  octal(0, 108, 8);
  octal(0, 116, 8);
  octal(size, 124, 12);
  octal(Math.floor(Date.now() / 1000), 136, 12);
  // The checksum is taken over the header with eight spaces in its own place.
  block.write('        ', 148);
  block.write('0', 156);
  block.write('ustar\0' + '00', 257);
  octal(
    block.reduce((sum, byte) => sum + byte, 0),
    148,
    7,
  );
  return block;
}
