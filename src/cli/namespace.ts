import { type Client, isGrpcServiceError } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time';

/** gRPC status codes. */
const [notFound, alreadyExists] = [5, 6];
const dayMs = 24 * 3600 * 1000;
/** The services of a cluster read new namespaces every ten seconds. */
const timeoutMs = 60_000;
const pollMs = 500;

/**
 * Makes the client's namespace if it is missing, and waits until it can be used.
 * @returns false when it was there
 */
export async function makeNamespace(temporal: Client, retentionDays: number): Promise<boolean> {
  const { namespace } = temporal.options;
  const { workflowService } = temporal.connection;
  if (await succeeds(() => workflowService.describeNamespace({ namespace }), notFound)) return false;
  const isNew = await succeeds(
    () =>
      workflowService.registerNamespace({
        namespace,
        workflowExecutionRetentionPeriod: msToTs(retentionDays * dayMs),
      }),
    alreadyExists,
  );
  const isKnown = () => succeeds(() => workflowService.listWorkflowExecutions({ namespace, pageSize: 1 }), notFound);
  for (const deadline = Date.now() + timeoutMs; !(await isKnown());) {
    if (Date.now() > deadline) throw new Error(`the namespace ${namespace} is made but not available yet: try again`);
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
  return isNew;
}

/** False for the status; any other error is thrown. */
async function succeeds(call: () => Promise<unknown>, status: number): Promise<boolean> {
  try {
    await call();
    return true;
  } catch (error) {
    if (isGrpcServiceError(error) && Number(error.code) === status) return false;
    throw error;
  }
}
