import { gpus, models } from '@stagi/perf/catalogueFiles.ts';
import { calibration } from '@stagi/perf/checkedCalibration.ts';
import { engineOf } from '@stagi/perf/leastGpus.ts';
import { type Load, type Prediction, predict } from '@stagi/perf/predict.ts';
import { fileOf, filesOf, type Quality } from '@stagi/perf/quality.ts';

export const LLAMA = modelOf('meta-llama/Llama-3.1-8B-Instruct');
const LENGTHS = { input: 1024, output: 256 };

export function modelOf(id: string) {
  return models.find((model) => model.id === id)!;
}

export const gpuOf = (id: string) => gpus.find((gpu) => gpu.id === id)!;

/** The formulas' own prediction for Llama on some GPUs. */
export function predictOn(gpu: string, load: Load, quality: Quality = 'original', count = 1): Prediction {
  const file = fileOf(filesOf(LLAMA), quality)!;
  return predict(
    {
      model: LLAMA,
      gpu: gpuOf(gpu),
      count,
      precision: file.precision,
      engine: engineOf(file),
      load,
      lengths: LENGTHS,
    },
    calibration,
  );
}
