/**
 * SQL: whether the limits of two signing nodes have refused a settlement of the client by this address within 10 minutes. Each such
 * settlement costs a cancellation, since its nonce is taken before the nodes are asked; further ones of the client are therefore not begun
 * for that long. Those of other clients are: the nodes may have refused what this one has asked for. A refused settlement that creates
 * the payer's wallet keeps back only those that create one too: it may need several times the gas of another, and buyers choose to sign it.
 * @param client expression of the client's id
 * @param chain expression of the chain's name
 * @param address expression of the address in the form shown to clients
 * @param isDeployment expression: whether the one to be begun creates the payer's wallet
 */
export const refusedLately = (client: string, chain: string, address: string, isDeployment: string): string =>
  `exists (select from transactions r join x402_settlements rs using (tx_id)
            where r.client_id = ${client} and r.chain = ${chain} and r.sender_address = ${address}
              and r.cancellation_reason = 'node_policy' and r.signing_begun_at > clock_timestamp() - interval '10 minutes'
              and (${isDeployment} or rs.sponsoring <> 'deployment'))`;
