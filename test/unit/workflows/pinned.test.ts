import * as workflows from '../../../workflows';

/**
 * What stays pinned to a build must end within minutes, and what lives longer must move on: an operator takes an old build's workers away once its
 * pinned runs have ended.
 */
test('runs that somebody waits for end on the build on which they began, and no others', () => {
  const pinned = Object.entries(workflows).filter(([, workflow]) => 'workflowDefinitionOptions' in workflow);
  expect(pinned.map(([name]) => name).sort()).toEqual(['bindKeyAgain', 'generateAccountKey', 'readJournals', 'readOrders']);
});
