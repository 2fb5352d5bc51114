import { x402Facilitator } from '@x402/core/facilitator';
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types';
import { toFacilitatorEvmSigner } from '@x402/evm';
import { ExactEvmScheme } from '@x402/evm/exact/facilitator';
import { createErc20ApprovalGasSponsoringExtension } from '@x402/extensions';
import { ExactEvmSchemeV1 } from '@x402/evm/exact/v1/facilitator';
import { UptoEvmScheme } from '@x402/evm/upto/facilitator';
import { type Address, createWalletClient, http, publicActions } from 'viem';
import type { JsonObject } from '../../../src/chains/types';

/**
 * The official facilitator for base, which only verifies here; `factories`: which may create wallets (ERC-6492). Its verdict is 'valid' or
 * the reason. @throws whatever the package throws
 */
export function officialFacilitator(rpc: string, address: Address, factories: Address[]): (body: JsonObject) => Promise<string> {
  const client = createWalletClient({ account: address, transport: http(rpc) }).extend(publicActions);
  const signer = toFacilitatorEvmSigner({ ...client, address } as never);
  const options = { eip6492AllowedFactories: factories };
  const sendTransactions = () => Promise.reject(new Error('nothing is sent here'));
  const facilitator = new x402Facilitator()
    .register('eip155:8453', new ExactEvmScheme(signer, options))
    .register('eip155:8453', new UptoEvmScheme(signer))
    .registerV1('base' as never, new ExactEvmSchemeV1(signer, options))
    .registerExtension(createErc20ApprovalGasSponsoringExtension({ ...signer, sendTransactions }));
  return async ({ paymentPayload, paymentRequirements }) => {
    const { isValid, invalidReason } = await facilitator.verify(
      paymentPayload as unknown as PaymentPayload,
      paymentRequirements as unknown as PaymentRequirements,
    );
    return isValid ? 'valid' : String(invalidReason);
  };
}
