import type { Client } from '@temporalio/client';
import { searchAttributes } from '../messages/progress';

/** temporal.api.enums.v1.IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD */
const keyword = 2;
const timeoutMs = 30_000;
const pollMs = 500;

/** Registers the missing search attributes and waits until they can be used. Returns the added names. */
export async function registerSearchAttributes(temporal: Client): Promise<string[]> {
  const namespace = temporal.options.namespace;
  const { operatorService } = temporal.connection as { operatorService: OperatorService };
  const missing = async (): Promise<string[]> => {
    const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
    return Object.values(searchAttributes).flatMap(({ name }) => (name in (customAttributes ?? {}) ? [] : [name]));
  };
  const added = await missing();
  if (added.length === 0) return [];
  await operatorService.addSearchAttributes({
    namespace,
    searchAttributes: Object.fromEntries(added.map((name) => [name, keyword])),
  });
  for (const deadline = Date.now() + timeoutMs; (await missing()).length > 0;) {
    if (Date.now() > deadline) throw new Error('the search attributes are registered but not available yet: try again');
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  return added;
}

/** The part of the operator service that is used here. */
interface OperatorService {
  listSearchAttributes(request: { namespace: string }): Promise<{ customAttributes?: Record<string, unknown> | null }>;
  addSearchAttributes(request: { namespace: string; searchAttributes: Record<string, number> }): Promise<unknown>;
}
