/**
 * SQL of what the open settlements of an address may cost; atomic units of the native coin.
 * @param chain expression of the chain's name
 * @param address expression of the address in the form shown to clients
 */
export const promisedGas = (chain: string, address: string): string =>
  `coalesce((select sum(s.gas_bound) from transactions t join x402_settlements s using (tx_id)
              where t.chain = ${chain} and t.sender_address = ${address} and t.ended_at is null and t.is_signed), 0)`;
