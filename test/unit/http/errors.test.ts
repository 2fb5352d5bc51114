import { NamespaceNotFoundError } from '@temporalio/common';
import { publicError } from '../../../src/http/errors';

test('a Temporal that says it has no such namespace, as one under load does, is unavailable; any other failure is not', () => {
  expect(publicError(new NamespaceNotFoundError('default'))).toMatchObject({ code: 'unavailable', status: 503 });
  expect(publicError(new Error('anything else'))).toMatchObject({ code: 'internal_error', status: 500 });
});
