import { api } from '@stagi/contract/api.ts';
import { engineTemplate } from '@stagi/contract/engineTemplates.ts';
import type { ModelEndpoint } from '@stagi/contract/modelEndpoints.ts';
import type { Model } from '@stagi/contract/models.ts';
import { calibration } from '@stagi/perf/checkedCalibration.ts';
import { gpuOf } from '@stagi/perf/gpuNames.ts';
import { isEstimate, predict } from '@stagi/perf/predict.ts';
import { filesOf } from '@stagi/perf/quality.ts';
import { useQuery } from '@tanstack/react-query';
import { q } from '../../../api/query.ts';
import { useT } from '../../../i18n/i18n.ts';
import { formatNumber } from '../../../ui/format.ts';
import { NOT_PREDICTED_WORDS } from '../fitWords.ts';
import classes from './Chat.module.css';
import type { Measured } from './useChat.ts';

interface Props {
  measured: Measured;
  endpoint: ModelEndpoint;
  model: Model;
}

/** What an answer took, beside what was predicted for one client with prompts and answers of these lengths. */
export function MeasuredSpeed({ measured: { ttft, rate, promptTokens, answerTokens }, endpoint, model }: Props) {
  const t = useT();
  const predicted = usePrediction(endpoint, model, promptTokens ?? 100, answerTokens ?? 100);
  const milliseconds = (seconds: number) => `${formatNumber(seconds * 1000, 0)} ms`;
  return (
    <table className={classes.speed} data-testid="measured-speed">
      <thead>
        <tr>
          <th scope="col">{answerTokens !== null && t('Tokens: {{n}}', { n: answerTokens })}</th>
          <th scope="col">{t('Measured')}</th>
          <th scope="col">{t('Predicted')}</th>
        </tr>
      </thead>
      <tbody>
        <tr>
          <th scope="row">{t('First token')}</th>
          <td data-testid="measured-ttft">{milliseconds(ttft)}</td>
          <td>{cell(predicted && typeof predicted !== 'string' ? predicted.ttft : predicted, milliseconds)}</td>
        </tr>
        <tr>
          <th scope="row">{t('Tokens per second')}</th>
          <td data-testid="measured-rate">{rate === null ? '–' : formatNumber(rate)}</td>
          <td>
            {cell(predicted && typeof predicted !== 'string' ? predicted.tpot : predicted, (seconds) =>
              formatNumber(1 / seconds),
            )}
          </td>
        </tr>
      </tbody>
    </table>
  );

  function cell(value: ReturnType<typeof predict>['ttft'] | string | undefined, show: (seconds: number) => string) {
    if (value === undefined) return '…';
    if (typeof value === 'string')
      return value in NOT_PREDICTED_WORDS
        ? t(NOT_PREDICTED_WORDS[value as keyof typeof NOT_PREDICTED_WORDS])
        : t(value);
    if (!isEstimate(value)) return null;
    const [one, other] = [show(value.low), show(value.high)];
    return `${show(value.value)} (${one} – ${other})`;
  }
}

/** Undefined: not known yet. A text says why there is none. */
function usePrediction(endpoint: ModelEndpoint, model: Model, input: number, output: number) {
  const t = useT();
  const { data } = useQuery({ ...q(api.models.gpus, {}, { quiet: true }), staleTime: Number.POSITIVE_INFINITY });
  const { gpu: reported } = endpoint.instance;
  if (endpoint.gpuCount === 0 || !reported) return t('What runs on CPUs has no prediction.');
  if (!data) return undefined;
  const engine = engineTemplate(endpoint.engine).perf;
  if (engine === null) return t('The speed of this engine is not predicted.');
  const gpu = gpuOf(data.entities, reported.name, reported.memoryGb);
  if (!gpu) return t('The GPU of this server is not in the catalogue.');
  const file = filesOf(model.entry).find(({ precision }) => precision === endpoint.precision);
  if (!file) return t('The catalogue no longer has this file.');
  return predict(
    {
      model: model.entry,
      gpu,
      count: endpoint.gpuCount,
      precision: file.precision,
      engine,
      lengths: { input, output: Math.max(2, output) },
      load: { clients: 1 },
    },
    calibration,
  );
}
