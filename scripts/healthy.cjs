// Health check of a container: exit code 0 when the process itself says that it is ready, and that no other check of its fails. So that
// `docker compose up --wait` ends when transfers are carried out; a load balancer asks for the status alone.
const port = process.env.METRICS_PORT;
// an empty one would be port 80 of an address
if (!port) {
  console.error('METRICS_PORT is required');
  process.exit(1);
}

fetch(`http://127.0.0.1:${port}/health/ready`, { signal: AbortSignal.timeout(5_000) })
  .then(async (answer) => answer.ok && !Object.values((await answer.json()).checks).includes(false))
  .then(
    (isHealthy) => process.exit(isHealthy ? 0 : 1),
    () => process.exit(1),
  );
