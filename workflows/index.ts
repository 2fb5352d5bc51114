export { deliverWebhooks } from './deliver-webhooks';
export { distributeBlacklist } from './distribute-blacklist';
export { followChain } from './follow-chain';
export { generateAccountKey } from './generate-account-key';
export { generateKey } from './generate-key';
export { readJournals } from './read-journals';
export { readOrders } from './read-orders';
export { transfer } from './transfer/index';
