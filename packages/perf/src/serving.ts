import { type Replica, type StepTime, stepTime } from './step.ts';

/** A load of equal requests. Lengths in tokens. */
export interface Lengths {
  input: number;
  output: number;
}

export interface Served {
  /** Seconds from sending a request to its first token, and between two tokens after it. */
  ttft: number;
  tpot: number;
  /** Output tokens per second of the replica. */
  rate: number;
  /** Sequences that run at once on average. */
  running: number;
  /** A request waits for memory: more load only lengthens the queue. */
  saturated: boolean;
  /** The mean step by what bounds it. */
  step: StepTime;
  /** The prefill of one prompt by what bounds it. */
  prefill: StepTime;
}

/**
 * Closed loop of N clients, each sending its next request when the last is answered. Sources: continuous batching, Orca
 * (OSDI 2022); chunks of prompts in the steps of others, arXiv 2403.02310; `X = B·O / (TTFT + (O − 1)·TPOT)`, and
 * `(N − Bmax) / Xreq` of waiting beyond the running limit, inference.md, "Continuous batching".
 */
export function closedLoop(replica: Replica, clients: number, lengths: Lengths): Served {
  const limit = runningLimit(replica, lengths);
  const running = Math.min(clients, limit);
  const { ttft, tpot, step, prefill } = latency(replica, running - 1, lengths);
  const cycle = ttft + (lengths.output - 1) * tpot;
  const rate = (running * lengths.output) / cycle;
  const waiting = Math.max(0, clients - limit) / (running / cycle);
  return { ttft: ttft + waiting, tpot, rate, running, saturated: clients > limit, step, prefill };
}

/**
 * Requests that arrive at a rate, per second, independently of each other. Little's law: `B = r·(TTFT + (O − 1)·TPOT(B))`.
 * Without a solution below the running limit the queue grows for as long as the load lasts: `undefined`.
 */
export function openLoop(replica: Replica, perSecond: number, lengths: Lengths): Served | undefined {
  const limit = runningLimit(replica, lengths);
  const one = promptTime(replica, lengths.input);
  const busy = perSecond * one;
  if (busy >= 1) return undefined;
  // Prompts wait for each other: mean wait of M/D/1.
  const wait = (busy / (2 * (1 - busy))) * one;
  const at = (others: number) => {
    const found = latency(replica, others, lengths);
    const ttft = found.ttft - burst(replica, others, lengths) + wait;
    return { ...found, ttft, needed: perSecond * (ttft + (lengths.output - 1) * found.tpot) };
  };
  if (at(limit).needed > limit) return undefined;
  let low = 0;
  let high = limit;
  while (high - low > 1e-9 * high) {
    const middle = (low + high) / 2;
    if (at(middle).needed > middle) low = middle;
    else high = middle;
  }
  const { ttft, tpot, step, prefill } = at(high);
  return { ttft, tpot, rate: perSecond * lengths.output, running: high, saturated: false, step, prefill };
}

/**
 * All requests at once: output tokens per second over the run, ramp and drain included. Full waves of the running limit,
 * then what is left; with unequal lengths the longest answer ends alone.
 */
export function offline(replica: Replica, requests: number, lengths: Lengths, longest = lengths.output): number {
  const { input, output } = lengths;
  const limit = runningLimit(replica, lengths);
  const waves = Math.floor(requests / limit);
  const rest = requests - waves * limit;
  const { tpot } = latency(replica, limit - 1, lengths);
  const stepOf = (decode: number) =>
    decode > 0 ? stepTime(replica, { decode, context: input + output / 2, prompt: 0, before: 0 }).total : 0;
  const drain = (longest - output) * stepOf(Math.min(requests, limit) / 4);
  const seconds =
    waves * output * tpot + rest * batchedPromptTime(replica, input) + (rest > 0 ? output * stepOf(rest) : 0) + drain;
  return (requests * output) / seconds;
}

/** A batch that starts together and ends together: prompts first, then `output` steps. */
export function staticBatch(replica: Replica, batch: number, { input, output }: Lengths) {
  const step = stepTime(replica, { decode: batch, context: input + output / 2, prompt: 0, before: 0 }).total;
  return { rate: (batch * output) / (batch * batchedPromptTime(replica, input) + (output - 1) * step), tpot: step };
}

/** Seconds of one prompt on an idle replica, without the fixed part of a request. */
export function promptTime(replica: Replica, input: number): number {
  return chunked(replica, input, 0, 0).total;
}

/** Seconds of a prompt among many, whose steps are full. */
export function batchedPromptTime(replica: Replica, input: number): number {
  const { stepTokens } = replica;
  if (input >= stepTokens) return promptTime(replica, input);
  const full = stepTime(replica, { decode: 0, context: 0, prompt: stepTokens, before: 0, each: input });
  return (full.total * input) / stepTokens;
}

const runningLimit = (replica: Replica, { input, output }: Lengths) =>
  Math.max(1, replica.runningLimit(input + output / 2));

/**
 * Latency of a request beside `others` running ones. Each of them ends after `output` steps and is followed by a new
 * prompt, so that `others/output` prompts begin per step. Their chunks share steps with decoding: a share of the steps is
 * longer by a chunk, TPOT is the mean.
 */
function latency(replica: Replica, others: number, lengths: Lengths) {
  const { input, output } = lengths;
  const context = input + output / 2;
  const chunk = Math.min(input, replica.stepTokens);
  const before = (input - chunk) / 2;
  const perStep = (others / output) * input;
  const decodeOnly = stepTime(replica, { decode: others + 1, context, prompt: 0, before: 0 });
  const step =
    perStep <= 0
      ? decodeOnly
      : mix(
          decodeOnly,
          stepTime(replica, { decode: others + 1, context, prompt: Math.max(chunk, perStep), before, each: chunk }),
          Math.min(1, perStep / chunk),
        );
  const prefill = chunked(replica, input, others, context);
  // The rest of the running step, and one that schedulers which overlap with the GPU have already prepared.
  const residual = 1.5 * step.total * Math.min(1, others);
  const ttft = replica.efficiency.perRequest + prefill.total + residual + burst(replica, others, lengths);
  return { ttft, tpot: step.total, step, prefill };
}

/** Clients of a closed loop with equal lengths end together, so that their next prompts come together. */
function burst(replica: Replica, others: number, { input }: Lengths): number {
  return replica.efficiency.burst * others * batchedPromptTime(replica, input);
}

/** All chunks of a prompt, each in a step with `others` decoding sequences. */
function chunked(replica: Replica, input: number, others: number, context: number): StepTime {
  const chunk = Math.min(input, replica.stepTokens);
  const one = stepTime(replica, { decode: others, context, prompt: chunk, before: (input - chunk) / 2 });
  return scale(one, input / chunk);
}

const KINDS = ['weights', 'cache', 'compute', 'link', 'fixed', 'total'] as const;

function mix(a: StepTime, b: StepTime, part: number): StepTime {
  const time = { ...a };
  for (const kind of KINDS) time[kind] = a[kind] * (1 - part) + b[kind] * part;
  return time;
}

function scale(a: StepTime, by: number): StepTime {
  const time = { ...a };
  for (const kind of KINDS) time[kind] *= by;
  return time;
}
