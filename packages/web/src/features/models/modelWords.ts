import type { ModelCard } from '@stagi/contract/models.ts';
import { text } from '@stagi/contract/text.ts';
import type { Quality } from '@stagi/perf/quality.ts';
import type { T } from '../../i18n/i18n.ts';
import { formatDay, formatNumber } from '../../ui/format.ts';

export type Task = ModelCard['task'];

/** What a model is for, as filters and cards call it. */
export const TASK_WORDS: Record<Task, string> = {
  'text-generation': text('Text'),
  reasoning: text('Reasoning'),
  code: text('Code'),
  'vision-language': text('Vision and language'),
  embedding: text('Embedding'),
  reranker: text('Reranking'),
  'speech-to-text': text('Speech to text'),
  'text-to-speech': text('Text to speech'),
  'image-generation': text('Image generation'),
  'video-generation': text('Video generation'),
};
export const TASKS = Object.keys(TASK_WORDS) as Task[];

/** What a quality means, in one line. The bounds are those of `qualityOf` in `packages/perf`. */
export const QUALITY_MEANING: Record<Quality, string> = {
  S: text('Fewer than 4 bits per weight: the smallest files, with a visible loss of accuracy'),
  M: text('4 to 5 bits per weight: a quarter of the original size, with some loss of accuracy'),
  L: text('5 to 7 bits per weight: close to the original in most tasks'),
  XL: text('8 bits per weight: half the original size, with hardly any loss'),
  original: text('The weights as their publisher released them, or 16 bits per weight'),
};

/** The same beside a label that is chosen. */
export const QUALITY_BITS: Record<Quality, string> = {
  S: text('under 4 bits'),
  M: text('4 to 5 bits'),
  L: text('5 to 7 bits'),
  XL: text('8 bits'),
  original: text('as released, or 16 bits'),
};

/** `S`, `M`, `L` and `XL` are the same in every language. */
export const qualityLabel = (t: T, quality: Quality): string => (quality === 'original' ? t('Original') : quality);

/** Names of licences, which no language translates, by what the hub calls them. */
const LICENCES: Record<string, string> = {
  'apache-2.0': 'Apache 2.0',
  mit: 'MIT',
  'modified-mit': 'Modified MIT',
  gemma: 'Gemma',
  llama2: 'Llama 2',
  llama3: 'Llama 3',
  'llama3.1': 'Llama 3.1',
  'llama3.2': 'Llama 3.2',
  'llama3.3': 'Llama 3.3',
  llama4: 'Llama 4',
  qwen: 'Qwen',
  'cc-by-nc-4.0': 'CC BY-NC 4.0',
  'nvidia-open-model-license': 'NVIDIA Open Model',
  'flux-1-dev-non-commercial-license': 'FLUX.1 dev Non-Commercial',
  'flux-2-dev-non-commercial-license': 'FLUX.2 dev Non-Commercial',
  'tencent-hunyuan-community': 'Tencent Hunyuan Community',
  cogvideox: 'CogVideoX',
  'openrail-m': 'OpenRAIL-M',
};

/** One that is not known here is shown as the hub calls it. */
export const licenceName = (id: string): string => LICENCES[id] ?? id;

/** `8.03B`, `671B`, `82M`, `1.06T`: three figures. */
export function formatParameters(count: number): string {
  const [unit, sign] = count >= 1e12 ? [1e12, 'T'] : count >= 1e9 ? [1e9, 'B'] : [1e6, 'M'];
  const value = count / unit;
  return `${formatNumber(value, value >= 100 ? 0 : value >= 10 ? 1 : 2)}${sign}`;
}

/** `8.03B`; of a mixture of experts `671B, 37B active`. */
export function parametersText(t: T, { total, active }: ModelCard['parameters']): string {
  const whole = formatParameters(total);
  return active === null
    ? whole
    : t('{{total}}, {{active}} active', { total: whole, active: formatParameters(active) });
}

/** Tokens as publishers write them: `131072` and `128000` are both `128K`, `1048576` is `1M`. */
export function formatContext(tokens: number): string {
  if (tokens < 1000) return formatNumber(tokens);
  const unit = tokens % 1024 === 0 ? 1024 : 1000;
  const [size, sign] = tokens >= 1e6 ? [unit ** 2, 'M'] : [unit, 'K'];
  return `${formatNumber(tokens / size)}${sign}`;
}

/** A date or a month of the catalogue: `23.07.2024`, `07.2024`. */
export const formatRelease: (releasedAt: string) => string = formatDay;
