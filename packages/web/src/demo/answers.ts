import type { Reply, Send } from '@stagi/contract/apiClient.ts';
import { text } from '@stagi/contract/text.ts';
import { isListInput, pageOfList } from './listAnswers.ts';
import { logAnswer } from './logAnswers.ts';
import { metricsAnswer } from './metricsAnswers.ts';
import type { Recorded, Recording } from './recorded.ts';
import { shiftTimes } from './shownTimes.ts';

export const NOTHING_CHANGES = text('This is a demo: nothing is changed. Sign up to do this yourself.');
export const NOT_RECORDED = text('This is not part of the demo. Sign up to see it with your own data.');

export const NO_TERMINAL = text('The terminal is not part of the demo. Sign up to open one on your own server.');

/** What only reads, but is made anew at each call: links to files, previews, exports. */
const READS =
  /\/(?:view|list|read|form|query|search|refs|tree|blob|commit|commits|fit|facets|[a-z-]*link|preview|export|objects|output)$/;

interface Options {
  recordingOf(path: string): Promise<Recording>;
  openedAt: number;
  now(): number;
}

/** Answers the calls of the app from the recording; nothing is sent anywhere. */
export function sendFromRecording({ recordingOf, openedAt, now }: Options): Send {
  return async (path, input, { signal }) => {
    if (path === 'stream-ticket') return success({ ticket: 'demo' });
    const recording = await recordingOf(path);
    signal?.throwIfAborted();
    const recordedAt = Date.parse(recording.recordedAt);
    const times = { recordedAt, openedAt, now: now() };
    const body = isPreference(path, input as object)
      ? answerOf(recording.answers, 'user/profile', {})
      : answerOf(recording.answers, path, input as object);
    if (body) return success(withMoment(path, input as object, shiftTimes(body, times), times.now));
    const isRead = READS.test(path) || recording.answers.some(([known]) => known === path);
    return { status: 200, body: { isSuccess: false, message: isRead ? NOT_RECORDED : NOTHING_CHANGES } };
  };
}

/** Theme and language hold in this browser; the profile of the demo has none of its own. */
function isPreference(path: string, input: object): boolean {
  const fields = Object.keys(input);
  return (
    path === 'user/edit' && fields.length > 0 && fields.every((field) => field === 'theme' || field === 'language')
  );
}

function success(body: object): Reply {
  return { status: 200, body: { isSuccess: true, ...body } };
}

/** The recorded answer to a call. A list is filtered, sorted and paged as it is asked for. */
export function answerOf(answers: readonly Recorded[], path: string, input: object): object | null {
  const ofCall = answers.filter(([known]) => known === path);
  const subject = (of: object) => keyOf(subjectOf(path, of));
  const found =
    ofCall.find(([, known]) => keyOf(known) === keyOf(input)) ??
    // Of a list that was recorded whole and narrowed, the whole one.
    ofCall
      .filter(([, known]) => subject(known) === subject(input))
      .toSorted(([, , a], [, , b]) => countOf(b) - countOf(a))[0];
  if (!found) return null;
  const [, recorded, body] = found;
  return isListInput(input) ? pageOfList(body, recorded, input) : body;
}

const countOf = (body: object): number => ('totalCount' in body ? Number(body.totalCount) : 0);

/** Charts and logs are asked for by time: what lies within it is cut out of what was recorded. */
function withMoment(path: string, input: object, body: object, now: number): object {
  if (path.endsWith('/metrics')) return metricsAnswer(body, input, now);
  if (path === 'logging/query') return logAnswer(body, input);
  return body;
}

/** What an input is about, without what narrows, sorts and pages the answer. */
function subjectOf(path: string, input: object): object {
  const names = path === 'logging/query' ? ['source'] : path.endsWith('/metrics') ? ['id'] : null;
  const isNarrowed = isListInput(input);
  return Object.fromEntries(
    Object.entries(input).filter(([name, value]) =>
      names
        ? names.includes(name)
        : !isNarrowed ||
          (typeof value !== 'string' && typeof value !== 'object' && name !== 'favorites') ||
          name.endsWith('Ref'),
    ),
  );
}

/** The same for inputs that mean the same: fields in order, without those that are left out; a moment is any moment. */
function keyOf(input: unknown): string {
  return JSON.stringify(input, (_name, value: unknown) => {
    if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value)) return '*';
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, inner]) => inner !== undefined)
        .toSorted(([a], [b]) => a.localeCompare(b)),
    );
  });
}
