import { expect, it } from 'vitest';
import { uploadWithCut } from './cutUpload.ts';
import { startVolumeLab } from './volumeLab.ts';

const MB = 1024 * 1024;

it('takes an upload of 500 MB in bounded memory', async () => {
  const lab = await startVolumeLab();
  try {
    expect(await uploadWithCut(lab)).toBeLessThan(400 * MB);
  } finally {
    await lab.close();
  }
});
