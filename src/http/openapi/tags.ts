/** What the resources of each tag are for. */
const descriptions: Record<string, string> = {
  Authentication: 'Access tokens, from an API key and its secret.',
  Wallets: 'A wallet holds a key that three signing nodes have generated together; no process has it whole.',
  Accounts: 'The address of a wallet on one chain.',
  Assets: 'The balances of an account: the native coin and the tokens that were added to it.',
  Transfers:
    'Sends funds of an account. The answer comes once they are locked; the rest is followed by GET /transactions/{tx_id} or webhooks.',
  Transactions: 'Transfers and deposits with their state, their timeline and what is happening to them now.',
  Approvals: 'Transfers that wait until a user approves or rejects them with a second factor.',
  'Security factors': 'Addresses that transfers may or may not go to.',
  Webhooks: 'Events that are sent to your endpoints, signed as Standard Webhooks describes.',
  x402: 'Payments by HTTP status 402: verify and settle as a facilitator, sign as a payer.',
  Operations: 'Health of this gateway, and this document.',
};

/** @throws Error for a tag without a description. */
export function describeTag(name: string): { name: string; description: string } {
  const description = descriptions[name];
  if (description === undefined) throw new Error(`The tag ${name} has no description`);
  return { name, description };
}
