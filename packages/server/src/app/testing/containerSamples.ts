import type { Sample } from './sample.ts';

/** Of containers, their files, images, registries and templates. */
export const CONTAINER_SAMPLES: Record<string, Sample> = {
  'docker-container/list': { input: ({ instance }) => ({ instanceRef: { id: instance } }), foreign: 404 },
  'docker-container/view': { input: ({ container }) => ({ id: container }), foreign: 404 },
  'docker-container/create': {
    input: ({ instance }) => ({
      instanceRef: { id: instance },
      title: 't',
      slug: 'walk-container',
      dockerImage: 'busybox',
      cpus: 1,
    }),
    foreign: 404,
  },
  'docker-container/edit': { input: ({ container }) => ({ ref: { id: container }, cpus: 0.2 }), foreign: 404 },
  'docker-container/undo-edit': { input: ({ container }) => ({ id: container }), foreign: 404 },
  'docker-container/start': { input: ({ container }) => ({ id: container }), foreign: 404 },
  'docker-container/stop': { input: ({ container }) => ({ id: container }), foreign: 404 },
  'docker-container/restart': { input: ({ container }) => ({ id: container }), foreign: 404 },
  'docker-container/delete': { input: ({ container }) => ({ id: container }), foreign: 404 },
  'docker-container/metrics': { input: ({ container }) => ({ id: container }), foreign: 404 },
  'docker-container/port/enter': {
    input: ({ containerSlug }) => ({ slug: containerSlug, returnUrl: 'https://elsewhere.example/' }),
    foreign: 404,
    asksThere: true,
  },
  'docker-container/port/edit': {
    input: ({ container }) => ({ ref: { id: container }, portMappings: [{ host: 8080, visibility: 'public' }] }),
    foreign: 404,
  },
  'docker-container/file/list': {
    input: ({ container }) => ({ id: container, volume: '/data' }),
    foreign: 404,
  },
  'docker-container/file/view': {
    input: ({ container }) => ({ id: container, volume: '/data', path: 'a' }),
    foreign: 404,
  },
  'docker-container/file/read': {
    input: ({ container }) => ({ id: container, volume: '/data', path: 'a' }),
    foreign: 404,
  },
  'docker-container/file/write': {
    input: ({ container }) => ({ id: container, volume: '/data', path: 'a', text: 't', etag: null }),
    foreign: 404,
  },
  'docker-container/file/mkdir': {
    input: ({ container }) => ({ id: container, volume: '/data', path: 'a' }),
    foreign: 404,
  },
  'docker-container/file/rename': {
    input: ({ container }) => ({ id: container, volume: '/data', path: 'a', newPath: 'b' }),
    foreign: 404,
  },
  'docker-container/file/delete': {
    input: ({ container }) => ({ id: container, volume: '/data', path: 'a' }),
    foreign: 404,
  },
  'docker-container/file/upload': {
    input: ({ container }) => ({ id: container, volume: '/data', path: 'a', sizeBytes: 1 }),
    foreign: 404,
  },
  'docker-container/file/discard-upload': {
    input: ({ container }) => ({
      id: container,
      volume: '/data',
      path: 'a',
      uploadId: '00000000-0000-4000-8000-000000000001',
    }),
    foreign: 404,
  },
  'docker-container/file/download': {
    input: ({ container }) => ({ id: container, volume: '/data', path: 'a' }),
    foreign: 404,
  },
  'docker-container/file/preview-link': {
    input: ({ container }) => ({ id: container, volume: '/data', path: 'a' }),
    foreign: 404,
  },
  'docker-container/image/list': { input: ({ instance }) => ({ instanceRef: { id: instance } }), foreign: 404 },
  'docker-container/image/remove': {
    input: ({ instance }) => ({ instanceRef: { id: instance }, reference: 'busybox:latest' }),
    foreign: 404,
  },
  'docker-container/image/prune': {
    input: ({ instance }) => ({ instanceRef: { id: instance }, dryRun: true }),
    foreign: 404,
  },
  'docker-container/registry/list': { input: () => ({}) },
  'docker-container/registry/add': { input: () => ({ host: 'ghcr.io', username: 'walk', secret: 'walk' }) },
  'docker-container/registry/remove': { input: ({ registry }) => ({ id: registry }), foreign: 404 },
  'docker-container/template/list': { input: () => ({}) },
  'docker-container/template/create': {
    input: ({ container }) => ({ containerRef: { id: container }, title: 'walk' }),
    foreign: 404,
  },
  'docker-container/template/delete': { input: ({ template }) => ({ id: template }), foreign: 404 },
};
