/**
 * Prints predictions beside measurements that no fit has seen: `comparePrediction.ts measured.json`, a file of the shape of
 * packages/perf/src/data/measured.json. Rows that say nothing about the formulas are named with the reason.
 */
import { readFileSync } from 'node:fs';
import { METRICS } from '@stagi/perf/calibration.ts';
import { MeasurementFile } from '@stagi/perf/catalogue.ts';
import { gpus, models } from '@stagi/perf/catalogueFiles.ts';
import { calibration } from '@stagi/perf/checkedCalibration.ts';
import { errorsOf, quantile } from '@stagi/perf/fit/errors.ts';
import { excluded, observationOf } from '@stagi/perf/fit/observations.ts';

const file = process.argv[2];
if (!file) throw new Error('Name a file of measurements');
const { measurements } = MeasurementFile.parse(JSON.parse(readFileSync(file, 'utf8')));
const percent = (log: number) => `${((Math.exp(log) - 1) * 100).toFixed(0)} %`;

for (const row of measurements) if (excluded(row)) console.log(`${row.id} left out: ${excluded(row)}`);
const observations = measurements.filter((row) => !excluded(row)).map((row) => observationOf(row, models, gpus));
const errors = errorsOf(observations, calibration.factors);
for (const { id, metric, measured, predicted, log } of errors) {
  const { row } = observations.find((one) => one.id === id)!;
  console.log(
    `${id} ${row.model} ${row.precision} ${row.engine} ${row.gpuCount} × ${row.gpu}: ${metric} ${measured.toFixed(1)}, predicted ${predicted.toFixed(1)}, ${percent(log)}`,
  );
}
for (const metric of METRICS)
  for (const moe of [false, true]) {
    const logs = errors.filter((error) => error.metric === metric && error.moe === moe).map(({ log }) => Math.abs(log));
    if (logs.length > 0)
      console.log(
        `${metric}, ${moe ? 'experts' : 'dense'}: half within ${percent(quantile(logs, 0.5))}, 80 % within ${percent(quantile(logs, 0.8))}, n = ${logs.length}`,
      );
  }
