import MiniSearch from 'minisearch';
import { expect, it } from 'vitest';
import { searchOptions } from './searchOptions.ts';

function found(language: 'en' | 'cn' | 'ru' | 'tr', text: string, question: string): boolean {
  const index = new MiniSearch(searchOptions(language));
  index.add({ id: '/a', path: '/a', title: '', heading: '', text });
  index.add({ id: '/b', path: '/b', title: '', heading: '', text: 'unrelated' });
  return index.search(question).some(({ id }) => id === '/a');
}

it.each([
  ['en', 'Containers are stopped', 'stopping container'],
  ['en', 'Call storages.uploadLink', 'upload'],
  ['en', 'The ledger of a workspace', 'legder'],
  ['en', 'permanently deleted', 'perm'],
  ['cn', '容器模板可以保存配置', '模板'],
  ['cn', '在您自己的服务器上创建容器', '创建 服务器'],
  ['cn', 'Create a container', 'containers'],
  ['ru', 'Создайте контейнер на сервере', 'контейнеры'],
  ['ru', 'Ещё один счёт', 'счет'],
  ['tr', 'Işık hızında kapsayıcı oluşturun', 'isik hizinda'],
  ['tr', 'İşletmecinin adresi', 'isletmeci'],
] as const)('%s: "%s" is found by "%s"', (language, text, question) => {
  expect(found(language, text, question)).toBe(true);
});

it('finds nothing for words that say nothing', () => {
  expect(found('en', 'how to do this', 'how to do it')).toBe(false);
});
