import { GpuFile, MeasurementFile, ModelFile } from './catalogue.ts';
import gpuFile from './data/gpus.json' with { type: 'json' };
import measuredFile from './data/measured.json' with { type: 'json' };
import modelFile from './data/models.json' with { type: 'json' };

/**
 * The checked-in files, about 330 kB: for the server and tests. The web app gets entries through calls and imports the
 * formulas alone.
 */
export const { gpus } = GpuFile.parse(gpuFile);
export const { models } = ModelFile.parse(modelFile);
export const { measurements } = MeasurementFile.parse(measuredFile);
