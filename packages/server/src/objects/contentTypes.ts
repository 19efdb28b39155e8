import { NO_TYPE } from '@stagi/s3/objectHeaders.ts';
import mime from 'mime';

const BYTES = 'application/octet-stream';
const TEXT = 'text/plain';

/** Ends of names that the registry of media types lacks or takes for something else, as in code, data and weights. */
const OURS: Record<string, string> = {
  ...ofAll('application/x-ndjson', 'jsonl ndjson'),
  ...ofAll('application/x-ipynb+json', 'ipynb'),
  ...ofAll('application/json', 'jsonc json5 har'),
  ...ofAll('application/vnd.apache.parquet', 'parquet'),
  ...ofAll('application/vnd.apache.arrow.file', 'arrow feather'),
  ...ofAll('application/zstd', 'zst'),
  ...ofAll('application/gzip', 'tgz'),
  ...ofAll('text/x-python', 'py pyi'),
  ...ofAll(BYTES, 'safetensors gguf ggml pt pth ckpt onnx npy npz pkl pickle h5 hdf5 tfrecord tflite msgpack avro orc'),
  ...ofAll(
    TEXT,
    'ts tsx mts cts jsx rs go rb r kt scala swift jl cu cuh proto cfg env lock diff patch rst tex bib sql sh bash zsh ps1 j2 jinja tf hcl properties err out',
  ),
};

/** Whole names without an end that tells. */
const WHOLE: Record<string, string> = ofAll(
  TEXT,
  'dockerfile makefile license readme changelog .gitignore .dockerignore .gitattributes .env',
);

/** The media type that the end of a name stands for; null: none is known. Nothing of the content is looked at. */
export function typeByName(key: string): string | null {
  const name = key.slice(key.lastIndexOf('/') + 1).toLowerCase();
  const dot = name.lastIndexOf('.');
  const end = dot > 0 ? name.slice(dot + 1) : '';
  return WHOLE[name] ?? (Object.hasOwn(OURS, end) ? OURS[end]! : end === '' ? null : mime.getType(`a.${end}`));
}

/** The type that is stored of an object whose client gave none to the platform's own calls. */
export const storedType = (key: string): string => typeByName(key) ?? NO_TYPE;

function ofAll(type: string, names: string): Record<string, string> {
  return Object.fromEntries(names.split(' ').map((name) => [name, type]));
}
