import { Counter } from 'prom-client';
import { metrics } from '../platform/metrics';

export const unattestedKeys = new Counter({
  name: 'gateway_wallet_keys_not_attested_total',
  help: 'Times a wallet was read whose key the three nodes do not attest; each needs an alarm',
  registers: [metrics],
});
