import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { type ModuleItem, parseSync } from '@swc/core';
import { ROOT } from './run.ts';

const SERVER = 'packages/server/src';
const WEB = 'packages/web/src';
const FOLDERS = ['packages', 'scripts', 'deploy', 'e2e', 'bench', 'faults'];
/** Tests may reach across rooms. */
const TEST = /\.test\.tsx?$|(^|\/)testing\//;

interface Import {
  to: string;
  /** Only types: nothing of it is left when the code runs. */
  isTypeOnly: boolean;
}

type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/**
 * Circles of imports, a line each. Files may form none, not even by types. Rooms of the server and of the web app (a
 * folder or a loose file directly below `src`) may form none by values: each room imports those below it only.
 */
export function importCircles(): string[] {
  const files = new Map(sources().map((file) => [file, importsOf(file)]));
  const inFile = circlesIn(new Map([...files].map(([file, imports]) => [file, new Set(imports.map(({ to }) => to))])));
  return [
    ...inFile.map((circle) => `files import each other: ${circle.join(', ')}`),
    ...[SERVER, WEB].flatMap((root) =>
      circlesIn(roomsOf(files, root)).map((circle) => `rooms of ${root} import each other: ${circle.join(', ')}`),
    ),
  ];
}

/** The rooms below a folder, each with the rooms whose values it imports. */
export function roomsOf(files: ReadonlyMap<string, readonly Import[]>, root: string): Graph {
  const rooms = new Map<string, Set<string>>();
  for (const [file, imports] of files) {
    const room = roomOf(file, root);
    if (!room) continue;
    const below = rooms.get(room) ?? new Set<string>();
    rooms.set(room, below);
    for (const { to, isTypeOnly } of imports) {
      const other = roomOf(to, root);
      if (other && other !== room && !isTypeOnly) below.add(other);
    }
  }
  return rooms;
}

function roomOf(file: string, root: string): string | null {
  if (!file.startsWith(`${root}/`) || TEST.test(file)) return null;
  return (
    file
      .slice(root.length + 1)
      .split('/')[0]
      ?.replace(/\.tsx?$/, '') ?? null
  );
}

/** Tarjan's strongly connected components of more than one node (R. Tarjan, 1972), each sorted by name. */
export function circlesIn(graph: Graph): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const stack: string[] = [];
  const circles: string[][] = [];
  const visit = (node: string): void => {
    order.set(node, order.size);
    lowest.set(node, order.get(node)!);
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!order.has(next)) visit(next);
      if (stack.includes(next)) lowest.set(node, Math.min(lowest.get(node)!, lowest.get(next)!));
    }
    if (lowest.get(node) !== order.get(node)) return;
    const circle = stack.splice(stack.indexOf(node));
    if (circle.length > 1) circles.push(circle.sort());
  };
  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return circles;
}

function sources(): string[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => /\.tsx?$/.test(name) && !/(^|\/)(node_modules|dist)\//.test(name))
      .map((name) => join(folder, name)),
  );
}

function importsOf(file: string): Import[] {
  const code = readFileSync(join(ROOT, file), 'utf8');
  const { body } = parseSync(code, { syntax: 'typescript', tsx: file.endsWith('x') });
  return body.flatMap((item) => {
    const found = sourceOf(item);
    const to = found && targetOf(file, found.from);
    return to ? [{ to, isTypeOnly: found.isTypeOnly }] : [];
  });
}

function sourceOf(item: ModuleItem): { from: string; isTypeOnly: boolean } | null {
  if (item.type === 'ImportDeclaration') {
    const names = item.specifiers;
    const areTypes =
      names.length > 0 && names.every((name) => name.type === 'ImportSpecifier' && name.isTypeOnly === true);
    return { from: item.source.value, isTypeOnly: item.typeOnly || areTypes };
  }
  if (item.type === 'ExportNamedDeclaration' && item.source)
    return { from: item.source.value, isTypeOnly: 'typeOnly' in item && item.typeOnly === true };
  if (item.type === 'ExportAllDeclaration') return { from: item.source.value, isTypeOnly: false };
  return null;
}

function targetOf(file: string, from: string): string | null {
  if (!/\.tsx?$/.test(from)) return null;
  if (from.startsWith('.')) return relative('.', join(dirname(file), from));
  const [, name, path] = /^@stagi\/([^/]+)\/(.*)$/.exec(from) ?? [];
  return name && path ? join('packages', name, path.startsWith('src/') ? path : `src/${path}`) : null;
}
