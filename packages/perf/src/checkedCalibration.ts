import { Calibration } from './calibration.ts';
import file from './data/calibration.json' with { type: 'json' };

/** The result of the last fit, checked in. */
export const calibration = Calibration.parse(file);
