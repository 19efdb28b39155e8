import { openBody, readSmall } from '../body.ts';
import type { Answer, ObjectCall } from '../call.ts';
import { S3Error } from '../errors.ts';
import { checkTags } from '../tags.ts';
import { childrenOf, type Elements, parseXml, requiredText, xmlDocument } from '../xml.ts';
import { requireObject } from './getObject.ts';
import { requireNullVersion } from './version.ts';

const MAX_BODY_BYTES = 64 * 1024;

export async function getTags(call: ObjectCall): Promise<Answer> {
  requireNullVersion(call.request.query);
  const { tags } = await requireObject(call);
  const tagSet = Object.entries(tags).map(([key, value]): Elements[number] => [
    'Tag',
    [
      ['Key', key],
      ['Value', value],
    ],
  ]);
  return { status: 200, body: xmlDocument('Tagging', [['TagSet', tagSet]]) };
}

export async function putTags(call: ObjectCall): Promise<Answer> {
  const { request, payload, source } = call;
  requireNullVersion(request.query);
  const body = openBody({ headers: request.headers, payload, source });
  const document = await parseXml(await readSmall(body, MAX_BODY_BYTES), 'Tagging');
  const [set, ...others] = childrenOf(document, 'TagSet');
  if (set === undefined || others.length > 0) throw new S3Error('MalformedXML');
  const tags = childrenOf(set, 'Tag').map((tag) => [requiredText(tag, 'Key'), requiredText(tag, 'Value')] as const);
  await call.backend.setTags(call.by, await requireObject(call), checkTags(tags));
  return { status: 200 };
}

export async function deleteTags(call: ObjectCall): Promise<Answer> {
  requireNullVersion(call.request.query);
  await call.backend.setTags(call.by, await requireObject(call), {});
  return { status: 204 };
}
