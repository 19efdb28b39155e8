/**
 * Fits the efficiency factors of packages/perf to its measurements and writes `calibration.json` and `heldOut.json`. Run by
 * hand after a change of the formulas or the data; takes a few minutes.
 */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Calibration } from '@stagi/perf/calibration.ts';
import { gpus, measurements, models } from '@stagi/perf/catalogueFiles.ts';
import { bandsOf, errorsByModel, errorsOf, quantile, type RowError } from '@stagi/perf/fit/errors.ts';
import { fitFactors } from '@stagi/perf/fit/fit.ts';
import { excluded, observationOf } from '@stagi/perf/fit/observations.ts';
import { ROOT } from './run.ts';

const DATA = join(ROOT, 'packages/perf/src/data');
const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest('hex');

/** Half of the rows, by the first bit of sha256 of their id, are never used for fitting. */
const isHeldOut = (id: string) => Number.parseInt(sha256(id).slice(0, 1), 16) >= 8;

const used = measurements.filter((row) => excluded(row) === null).map((row) => observationOf(row, models, gpus));
const fitted = used.filter(({ id }) => !isHeldOut(id));
const heldOut = used.filter(({ id }) => isHeldOut(id));
const factors = Object.fromEntries(
  Object.entries(fitFactors(fitted)).map(([name, value]) => [name, Number(value.toFixed(4))]),
);
const byRow = errorsOf(heldOut, factors);
const leftOut = errorsByModel(fitted, used);
const byModel = leftOut.filter(({ id }) => isHeldOut(id));

const calibration: Calibration = {
  about: [
    'Written by scripts/fitPrediction.ts. Every number here is computed from the files under inputs.',
    'factors: efficiencies on a logistic scale, times on a logarithmic one (packages/perf/src/factors.ts).',
    'bands: four fifths of the errors, of rows predicted without any model of their shape, are within the error.',
  ],
  inputs: Object.fromEntries(
    ['gpus.json', 'models.json', 'measured.json'].map((name) => [name, sha256(readFileSync(join(DATA, name)))]),
  ),
  rows: {
    fitted: fitted.length,
    heldOut: heldOut.length,
    excluded: Object.fromEntries(measurements.flatMap((row) => (excluded(row) ? [[row.id, excluded(row)!]] : []))),
  },
  factors,
  bands: bandsOf(leftOut, isHeldOut),
};
writeFileSync(join(DATA, 'calibration.json'), `${JSON.stringify(calibration, null, 2)}\n`);
writeFileSync(
  join(DATA, 'heldOut.json'),
  `${JSON.stringify({ heldOut: heldOut.map(({ id }) => id), byRow: brief(byRow), leftOut: brief(leftOut) }, null, 2)}\n`,
);
print('fitted', errorsOf(fitted, factors));
print('held out by row', byRow);
print('held out by model', byModel);

function brief(errors: RowError[]) {
  return errors.map(({ log, measured, predicted, ...rest }) => ({
    ...rest,
    measured: Number(measured.toPrecision(5)),
    predicted: Number(predicted.toPrecision(5)),
    log: Number(log.toFixed(4)),
  }));
}

function print(title: string, errors: readonly RowError[]) {
  for (const metric of ['TPOT', 'TTFT', 'throughput'] as const)
    for (const moe of [false, true]) {
      const logs = errors
        .filter((error) => error.metric === metric && error.moe === moe)
        .map(({ log }) => Math.abs(log));
      if (logs.length === 0) continue;
      const percent = (part: number) => `${((Math.exp(quantile(logs, part)) - 1) * 100).toFixed(0)} %`;
      console.log(
        `${title}: ${metric}, ${moe ? 'experts' : 'dense'}: half within ${percent(0.5)}, 80 % within ${percent(0.8)}, n = ${logs.length}`,
      );
    }
}
