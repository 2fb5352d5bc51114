// Health check of a container: exit code 0 when the process itself says that it is ready.
const port = process.env.METRICS_PORT;

fetch(`http://127.0.0.1:${port}/health/ready`, { signal: AbortSignal.timeout(5_000) }).then(
  ({ ok }) => process.exit(ok ? 0 : 1),
  () => process.exit(1),
);
