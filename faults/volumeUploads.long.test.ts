import { expect, it } from 'vitest';
import { uploadWithCut } from './cutUpload.ts';
import { startVolumeLab } from './volumeLab.ts';

const MB = 1024 * 1024;

it('takes an upload of 500 MB with a cut in bounded memory', async () => {
  const lab = await startVolumeLab();
  try {
    expect(await uploadWithCut(lab, { megabytes: 500 })).toBeLessThan(400 * MB);
  } finally {
    await lab.close();
  }
});
