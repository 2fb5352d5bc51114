import type { Client } from '@temporalio/client';
import { OwnAddresses } from '../../../src/accounts/own-addresses';
import { EvmPaymentClient } from '../../../src/chains/evm/payments/client';
import { Endpoints } from '../../../src/chains/evm/rpc';
import { WorkflowOutbox } from '../../../src/outbox/outbox';
import { createDeliveries } from '../../../src/processes/workflow-outbox';
import { StartLimits } from '../../../src/transfers/start/start-limits';
import { transferWorkflowsOn } from '../../../src/transfers/start/workflows';
import { AttestedKeys } from '../../../src/wallets/attested-keys';
import { GenerationLimits } from '../../../src/wallets/generation-limits';
import { ServedChains } from '../../../src/x402/served';
import { countSponsored } from '../../../src/x402/settlement/send-approval';
import { SettlementService } from '../../../src/x402/settlement/service';
import { SettlementWatch } from '../../../src/x402/settlement/watch';
import { PaymentVerifier } from '../../../src/x402/verify';
import { roomyGenerationLimits, roomyStartLimits } from '../../ledger';
import { nodeKeys } from '../../node-refusals';
import type { SettlementFixture } from './workflow-fixture';

/** What POST /x402/settle does, without HTTP: it asks the chain of the fixture, and starts workflows there. */
export function createSettlementService(
  { database, registry, getFamily, chain, anvil, options: { logger: log } }: SettlementFixture,
  temporal: Client,
): SettlementService {
  const addresses = new OwnAddresses(new AttestedKeys(nodeKeys, log), getFamily, log);
  const payments = new Map([[chain.name, new EvmPaymentClient(chain, new Endpoints(chain, [anvil.url]))]]);
  const served = new ServedChains({ database, registry, payments, addresses });
  const starts = new StartLimits(roomyStartLimits, countSponsored);
  const workflows = transferWorkflowsOn(temporal);
  const keyGeneration = { start: () => Promise.reject(new Error('no key is generated here')) };
  const generations = new GenerationLimits(roomyGenerationLimits);
  const outbox = new WorkflowOutbox(
    database,
    createDeliveries({ database, workflows, keyGeneration, starts, generations, log }),
    log,
  );
  return new SettlementService({
    ...{ database, registry, getFamily, starts, outbox },
    ...{ verifier: new PaymentVerifier({ database, getFamily, served }), watch: new SettlementWatch(database) },
    waitMs: { 1: 500, 2: 500, longest: 1_000 },
  });
}
