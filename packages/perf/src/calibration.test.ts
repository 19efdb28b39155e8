import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { bandOf, FEWEST, METRICS, MOST_ERROR } from './calibration.ts';
import { gpus, measurements, models } from './catalogueFiles.ts';
import { calibration } from './checkedCalibration.ts';
import file from './data/heldOut.json' with { type: 'json' };
import { bandsOf, errorsByModel, errorsOf, quantile, type RowError } from './fit/errors.ts';
import { fitFactors } from './fit/fit.ts';
import { excluded, observationOf } from './fit/observations.ts';

const sha256 = (text: string | Buffer) => createHash('sha256').update(text).digest('hex');
const used = measurements.filter((row) => excluded(row) === null).map((row) => observationOf(row, models, gpus));
const isHeldOut = (id: string) => Number.parseInt(sha256(id).slice(0, 1), 16) >= 8;
const fitted = used.filter(({ id }) => !isHeldOut(id));
const heldOut = used.filter(({ id }) => isHeldOut(id));
const leftOut = file.leftOut as RowError[];

/** Digits that rounding of a stored value keeps. */
const CLOSE = 2;

describe('the checked-in calibration', () => {
  it('was made from the checked-in data, without the half of the rows that the hash of their id holds out', () => {
    for (const [name, digest] of Object.entries(calibration.inputs))
      expect(sha256(readFileSync(join(import.meta.dirname, 'data', name))), name).toBe(digest);
    expect(file.heldOut).toEqual(heldOut.map(({ id }) => id));
    expect(calibration.rows).toMatchObject({ fitted: fitted.length, heldOut: heldOut.length });
    expect(fitted.length + heldOut.length + Object.keys(calibration.rows.excluded).length).toBe(measurements.length);
    expect(Math.abs(heldOut.length / used.length - 0.5)).toBeLessThan(0.1);
  });

  it('is what the fit finds', () => {
    const again = errorsOf(heldOut, fitFactors(fitted));
    const stored = errorsOf(heldOut, calibration.factors);
    for (const [n, { id, log }] of again.entries()) expect(log, id).toBeCloseTo(stored[n]!.log, CLOSE);
    for (const [n, { id, log }] of file.byRow.entries()) expect(log, id).toBeCloseTo(stored[n]!.log, CLOSE);
  });

  it('left each model out that it judges, and has the bands that follow', () => {
    const shape = heldOut[0]!.shapeKey;
    const rows = used.filter(({ shapeKey }) => shapeKey === shape);
    const again = errorsByModel(fitted, rows);
    expect(again.length).toBeGreaterThan(5);
    for (const error of again) {
      const stored = leftOut.find(({ id, metric }) => id === error.id && metric === error.metric)!;
      expect(error.log, error.id).toBeCloseTo(stored.log, CLOSE);
    }
    const bands = bandsOf(leftOut, isHeldOut);
    expect(bands.map(({ error: _, ...band }) => band)).toEqual(calibration.bands.map(({ error: _, ...band }) => band));
    for (const [n, { error }] of bands.entries()) expect(error).toBeCloseTo(calibration.bands[n]!.error, CLOSE);
    for (const { n, of } of bands) expect(n).toBeGreaterThanOrEqual(of === 'family' ? 1 : FEWEST.alone);
  });
});

describe('predictions beside measurements', () => {
  const byRow = errorsOf(used, calibration.factors);

  it('prints the error of each row', () => {
    const lines = byRow.map(({ id, metric, measured, predicted, log }) => {
      const { row, setup } = used.find((one) => one.id === id)!;
      const without = leftOut.find((error) => error.id === id && error.metric === metric)!;
      const load = 'value' in row.load ? row.load.value : 'requests' in row.load ? row.load.requests : row.load.kind;
      return [
        `${id} ${isHeldOut(id) ? 'held out' : 'fitted  '}`,
        `${row.model.split('/')[1]} ${row.precision} ${row.engine} ${setup.count} × ${row.gpu}`,
        `${row.inputTokens}/${row.outputTokens} ${row.load.kind} ${load}`,
        `${metric} ${measured.toFixed(1)} predicted ${predicted.toFixed(1)}: ${percent(log)}, without its model ${percent(without.log)}`,
      ].join(' | ');
    });
    console.log(lines.join('\n'));
    for (const metric of METRICS)
      for (const moe of [false, true]) {
        const of = (errors: readonly RowError[], held: boolean) =>
          errors.filter((error) => error.metric === metric && error.moe === moe && isHeldOut(error.id) === held);
        console.log(
          [
            `${metric}, ${moe ? 'experts' : 'dense'}`,
            `fitted ${spread(of(byRow, false))}`,
            `held out by row ${spread(of(byRow, true))}`,
            `held out by row and model ${spread(of(leftOut, true))}`,
          ].join(': '),
        );
      }
    expect(lines.length).toBeGreaterThan(200);
  });

  it('holds dense decoding to 20 % for half of the held-out rows and to the shown limit for four fifths', () => {
    for (const errors of [byRow.filter(({ id }) => isHeldOut(id)), leftOut.filter(({ id }) => isHeldOut(id))]) {
      const logs = errors.filter(({ metric, moe }) => metric === 'TPOT' && !moe).map(({ log }) => Math.abs(log));
      expect(logs.length).toBeGreaterThan(30);
      expect(Math.exp(quantile(logs, 0.5)) - 1).toBeLessThan(0.2);
      expect(Math.exp(quantile(logs, 0.8)) - 1).toBeLessThan(MOST_ERROR);
    }
  });

  it('shows decoding of dense models on at least three families of GPUs, and nothing beyond the limit', () => {
    const shown = gpus.filter((gpu) => {
      const band = bandOf(calibration, gpu, 'bf16', false, 'TPOT');
      return band && band.error <= MOST_ERROR;
    });
    console.log(
      `dense bf16 decoding is shown on ${shown.length} of ${gpus.length} GPUs: ${shown.map(({ id }) => id).join(', ')}`,
    );
    for (const id of ['h100-sxm', 'a100-sxm-80', 'l4']) expect(shown.map((gpu) => gpu.id)).toContain(id);
  });
});

const percent = (log: number) => `${((Math.exp(log) - 1) * 100).toFixed(0)} %`;

function spread(errors: readonly RowError[]): string {
  if (errors.length === 0) return 'n = 0';
  const logs = errors.map(({ log }) => Math.abs(log));
  return `half within ${percent(quantile(logs, 0.5))}, 80 % within ${percent(quantile(logs, 0.8))}, n = ${logs.length}`;
}
