import type { api } from '@stagi/contract/api.ts';
import type { ParsedInputOf } from '@stagi/contract/call.ts';
import { engineTemplate, serves } from '@stagi/contract/engineTemplates.ts';
import { text } from '@stagi/contract/text.ts';
import { gpus } from '@stagi/perf/catalogueFiles.ts';
import { type OnServer, onServer, type ServerFacts } from '@stagi/perf/onServer.ts';
import type { PublishedFile } from '@stagi/perf/quality.ts';
import type { CatalogueEntry } from '../catalogue/catalogue.ts';
import { invalid } from '../http/errors.ts';

type Input = ParsedInputOf<typeof api.modelEndpoints.deploy>;

/** What an engine reads of a context, unless another is asked for. */
const DEFAULT_CONTEXT = 8192;

/** The published file that the engine is to serve. Throws at the form's field when there is none. */
export function chosenFile({ entry, files }: CatalogueEntry, input: Input): PublishedFile {
  const template = engineTemplate(input.template);
  const ofQuality = files.filter(({ quality }) => quality === input.quality);
  if (ofQuality.length === 0) throw invalid(text('Nobody publishes files of this quality'), 'quality');
  const served = ofQuality.filter((file) => serves(template, entry.task, file));
  if (served.length === 0) throw invalid(text('This engine does not serve files of this quality'), 'template');
  const file = input.variant === undefined ? served[0] : served.find(({ variant }) => variant === input.variant);
  if (!file) throw invalid(text('There is no such file of this quality'), 'variant');
  return file;
}

/** The context that the engine is started with, in tokens; null for models without one. */
export function chosenContext({ entry }: CatalogueEntry, { context }: Input): number | null {
  const most = entry.contextLength;
  if (most === undefined) return null;
  if (context !== undefined && context > most)
    throw invalid(text('This model has a context of at most {{most}} tokens'), 'context', { most });
  return context ?? Math.min(DEFAULT_CONTEXT, most);
}

/**
 * How many GPUs of the server the model is served with; 0: with CPUs. Throws at the form's field where it does not fit,
 * unless it is to be tried anyway.
 */
export function chosenGpuCount(
  { entry }: CatalogueEntry,
  file: PublishedFile,
  input: Input,
  server: ServerFacts,
  context: number | null,
): number {
  const template = engineTemplate(input.template);
  const onCpu = template.image.cpu !== null;
  const verdict = onServer(gpus, server, {
    model: entry,
    file,
    context: context ?? 1,
    onCpu,
    engine: template.perf,
  });
  if (input.gpuCount !== undefined) {
    if (input.gpuCount > server.gpus.length) throw invalid(text('The server has fewer GPUs'), 'gpuCount');
    if (input.gpuCount === 0 && !onCpu) throw invalid(text('This engine needs a GPU'), 'gpuCount');
  }
  if (!verdict.fits && !input.evenIfItDoesNotFit) throw invalid(whyNot(verdict.reason), 'instanceRef');
  const least = verdict.fits ? (verdict.on === 'gpu' ? verdict.count : 0) : server.gpus.length;
  return input.gpuCount ?? least;
}

function whyNot(reason: Extract<OnServer, { fits: false }>['reason']): string {
  switch (reason) {
    case 'no gpu':
      return text('This engine needs a server with a GPU');
    case 'unknown gpu':
      return text('The GPU of this server is not in the catalogue: whether the model fits is not known');
    case 'context':
      return text('The model does not have so long a context');
    case 'cache':
      return text('The model fits this server, but not with so long a context');
    default:
      return text('The model is too large for this server');
  }
}
