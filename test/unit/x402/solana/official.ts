import { readFileSync } from 'node:fs';
import path from 'node:path';
import { x402Facilitator } from '@x402/core/facilitator';
import type { PaymentPayload, PaymentRequirements, SchemeNetworkClient, SchemeNetworkFacilitator } from '@x402/core/types';
import { createSolanaRpc, type KeyPairSigner } from '@solana/kit';
import type { JsonObject } from '../../../../src/chains/types';
import { officialPackage } from '../../../e2e/official/installed';
import { caip2 } from './scene';

interface Package {
  ExactSvmScheme: new (signer: unknown) => SchemeNetworkFacilitator;
}
interface PackageV1 {
  ExactSvmSchemeV1: new (signer: unknown) => SchemeNetworkFacilitator;
}

/** Whether @x402/svm is installed (CONTRIBUTING.md). */
export const isInstalled = officialPackage('@x402/svm') !== null;

/** The package does not export its reasons: they are read in its facilitators' code. */
export const officialReasons = (): Set<string> =>
  new Set(
    [
      ['exact', 'facilitator'],
      ['exact', 'v1', 'facilitator'],
    ]
      .map((parts) => readFileSync(path.join(officialPackage('@x402/svm') ?? '', 'dist', 'cjs', ...parts, 'index.js'), 'utf8'))
      .flatMap((source) => [...source.matchAll(/"([a-z0-9]+(?:_[a-z0-9]+)+)"/g)].map(([, text]) => text as string)),
  );

/** A part of the package, by the folder that has it. */
export const load = async <T>(...parts: string[]): Promise<T> =>
  (await import(path.join(officialPackage('@x402/svm') ?? '', 'dist', 'cjs', ...parts, 'index.js'))) as T;

type PayerClass = new (signer: KeyPairSigner, config: { rpcUrl: string }) => SchemeNetworkClient;

/** The scheme of the official client, of a version; it reads the chain at `rpcUrl`. */
export async function officialPayer(version: 1 | 2, payer: KeyPairSigner, rpcUrl: string): Promise<SchemeNetworkClient> {
  const scheme =
    version === 2
      ? (await load<{ ExactSvmScheme: PayerClass }>('exact', 'client')).ExactSvmScheme
      : (await load<{ ExactSvmSchemeV1: PayerClass }>('exact', 'v1', 'client')).ExactSvmSchemeV1;
  return new scheme(payer, { rpcUrl });
}

/** `payload` of the protocol as the official client makes it, of a version. */
export async function officialPayload(
  version: 1 | 2,
  { url, payer, required }: { url: string; payer: KeyPairSigner; required: JsonObject },
): Promise<JsonObject> {
  const scheme = await officialPayer(version, payer, url);
  return (await scheme.createPaymentPayload(version, required as unknown as PaymentRequirements)).payload as JsonObject;
}

/** The official facilitator with its own limits. Its verdict is 'valid' or the reason. @throws whatever the package throws */
export async function officialVerifier(url: string, settler: KeyPairSigner): Promise<(body: JsonObject) => Promise<string>> {
  const { toFacilitatorSvmSigner } = await load<{ toFacilitatorSvmSigner: (signer: unknown, rpc: object) => unknown }>();
  const { ExactSvmScheme } = await load<Package>('exact', 'facilitator');
  const { ExactSvmSchemeV1 } = await load<PackageV1>('exact', 'v1', 'facilitator');
  const rpc = createSolanaRpc(url);
  const signer = toFacilitatorSvmSigner(settler, { [caip2]: rpc, solana: rpc });
  const facilitator = new x402Facilitator()
    .register(caip2, new ExactSvmScheme(signer))
    .registerV1('solana' as never, new ExactSvmSchemeV1(signer));
  return async ({ paymentPayload, paymentRequirements }) => {
    const { isValid, invalidReason } = await facilitator.verify(
      paymentPayload as unknown as PaymentPayload,
      paymentRequirements as unknown as PaymentRequirements,
    );
    return isValid ? 'valid' : String(invalidReason);
  };
}
