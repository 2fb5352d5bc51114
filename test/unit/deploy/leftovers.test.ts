import { leftBehind, prefixOf } from '../../deploy/leftovers';

it('what a run has made is left behind once its process is dead, and nothing else is', () => {
  const names = [`${prefixOf(11)}-api`, `${prefixOf(12)}-hub`, 'gwdt-api', 'another', `my${prefixOf(12)}-x`, ''];
  expect(leftBehind(names, (pid) => pid === 11)).toEqual([`${prefixOf(12)}-hub`]);
  expect(leftBehind(names, () => true)).toEqual([]);
  expect(leftBehind([`${prefixOf(process.pid)}-api`])).toEqual([]);
});
