import type { Client } from '@temporalio/client';
import type { DataSource } from 'typeorm';
import type { AccountKeyGeneration } from '../accounts/key-generation';
import { OwnAddresses } from '../accounts/own-addresses';
import { OwnKeys } from '../accounts/own-keys';
import { AccountRepository } from '../accounts/repository';
import { accountRoutes } from '../accounts/routes';
import { AccountService } from '../accounts/service';
import { chainRoutes } from '../assets/chain-routes';
import { AssetRepository } from '../assets/repository';
import { assetRoutes } from '../assets/routes';
import { AssetService } from '../assets/service';
import { sealAuditLog } from '../audit/seal';
import { createAuthenticate } from '../auth/authenticate';
import { KeyStatus } from '../auth/key-status';
import { CredentialRepository } from '../auth/repository';
import { authRoutes } from '../auth/routes';
import { AuthService } from '../auth/service';
import { LoginThrottle } from '../auth/throttle';
import { AccessTokens, type TokenOptions } from '../auth/tokens';
import type { GetFamily } from '../chains/family';
import type { PaymentClient } from '../chains/payments';
import type { ChainRegistry } from '../chains/registry';
import { healthRoutes } from '../health/routes';
import { HealthService } from '../health/service';
import { createIdempotent } from '../http/idempotency';
import { IdempotencyStore } from '../http/idempotency-store';
import { RequestLimits } from '../http/limits/limits';
import type { LimitSettings } from '../http/limits/settings';
import { sealedAnswers } from '../http/sealed-idempotency';
import type { EventDocs } from '../http/openapi/events';
import type { Route } from '../http/route';
import { getBody } from '../http/validate';
import { MfaService } from '../mfa/service';
import type { NodeKeys } from '../mpc/identity';
import { WorkflowOutbox } from '../outbox/outbox';
import { sweepTraces } from '../outbox/request-traces';
import type { Logger } from '../platform/logging';
import { SecurityFactorBatches } from '../security-factors/batch';
import { SecurityFactorRepository } from '../security-factors/repository';
import { securityFactorRoutes } from '../security-factors/routes';
import { SecurityFactorService } from '../security-factors/service';
import { LiveStatusCache } from '../transactions/live-status';
import { TransactionRepository } from '../transactions/repository';
import { transactionRoutes } from '../transactions/routes';
import { TransactionService } from '../transactions/service';
import { toComparableTransfer } from '../transfers/accept/request';
import { approvalRoutes } from '../transfers/approval-routes';
import { carryOutRedoRequests } from '../transfers/redo/carry-out';
import { transferRoutes } from '../transfers/routes';
import { createTransfer } from '../transfers/schema';
import { Approvals } from '../transfers/screen/approvals';
import { TransferService } from '../transfers/service';
import { StartLimits, type StartLimitSettings } from '../transfers/start/start-limits';
import type { TransferWorkflows } from '../transfers/start/workflows';
import { AttestedKeys } from '../wallets/attested-keys';
import { GenerationLimits, type GenerationLimitSettings } from '../wallets/generation-limits';
import type { KeyGeneration } from '../wallets/key-generation';
import { WalletRepository } from '../wallets/repository';
import { walletRoutes } from '../wallets/routes';
import { WalletService } from '../wallets/service';
import { DeliveryService } from '../webhooks/delivery-service';
import { DeliveryRepository } from '../webhooks/delivery-repository';
import { WebhookRepository } from '../webhooks/repository';
import { webhookRoutes } from '../webhooks/routes';
import { eventDocs } from '../webhooks/event-schema';
import { WebhookService } from '../webhooks/service';
import type { TargetGuard } from '../webhooks/ssrf-guard';
import { x402Routes } from '../x402/routes';
import { signRoutes } from '../x402/sign/routes';
import { SignService } from '../x402/sign/service';
import { ServedChains } from '../x402/served';
import { X402Service } from '../x402/service';
import { countSponsored } from '../x402/settlement/send-approval';
import { SettlementService, type SettlementWaits } from '../x402/settlement/service';
import { SettlementWatch } from '../x402/settlement/watch';
import { PaymentVerifier } from '../x402/verify';
import type { PeriodicJob } from './periodic-jobs';
import type { SecretBoxes } from './secret-boxes';
import { createDeliveries } from './workflow-outbox';

export interface ResourceDependencies {
  database: DataSource;
  temporal: Client;
  registry: ChainRegistry;
  getFamily: GetFamily;
  /** By chain name. */
  payments: ReadonlyMap<string, PaymentClient>;
  keyGeneration: KeyGeneration;
  accountKeyGeneration: AccountKeyGeneration;
  workflows: TransferWorkflows;
  startLimits: StartLimitSettings;
  generationLimits: GenerationLimitSettings;
  /** How long a transfer waits for its approval. */
  approvalWaitSeconds: number;
  settleWaitMs: SettlementWaits;
  tokenOptions: TokenOptions;
  signerUrls: string[];
  /** Verify what the signing nodes attest about keys. */
  nodeKeys: NodeKeys;
  limits: LimitSettings;
  boxes: SecretBoxes;
  /** Checks the urls of webhooks. */
  webhookTargets: TargetGuard;
  log: Logger;
}

export interface Resources {
  routes: Route[];
  operational: Route[];
  /** What webhook endpoints are sent. */
  events: EventDocs[];
  limits: RequestLimits;
  outbox: WorkflowOutbox;
  housekeeping: PeriodicJob[];
  health: HealthService;
  /** Requests that wait for a settlement. */
  watch: SettlementWatch;
  /** Requests that wait for a signature. */
  payments: SignService;
}

/** Creates every resource of the API: the same in the process and in the tests. */
export async function createResources(deps: ResourceDependencies): Promise<Resources> {
  const { database, registry, getFamily, workflows, boxes, nodeKeys, log } = deps;
  const starts = new StartLimits(deps.startLimits, countSponsored);
  const generations = new GenerationLimits(deps.generationLimits);
  const outbox = new WorkflowOutbox(database, createDeliveries({ ...deps, starts, generations }), log);
  const tokens = await AccessTokens.create(deps.tokenOptions);
  const credentials = new CredentialRepository(database);
  const idempotencyStore = new IdempotencyStore(database);
  const walletRows = new WalletRepository(database, generations);
  const accountRows = new AccountRepository(database);
  const assetRows = new AssetRepository(database);
  const authenticate = createAuthenticate(tokens, new KeyStatus(credentials));
  const idempotent = createIdempotent(idempotencyStore);
  const limits = new RequestLimits(database, deps.limits);
  const idempotentTransfer = createIdempotent(idempotencyStore, (ctx) =>
    toComparableTransfer(deps, getBody(ctx, createTransfer)),
  );
  const idempotentSealed = createIdempotent(sealedAnswers(idempotencyStore, boxes.answers));
  const mfa = new MfaService(database, boxes.totp);

  const keys = new AttestedKeys(nodeKeys, log);
  const addresses = new OwnAddresses(keys, getFamily, log);
  const wallets = new WalletService(walletRows, keys, outbox);
  const ownKeys = new OwnKeys(database, deps.accountKeyGeneration, addresses.accountKeys);
  const accountDeps = { database, registry, getFamily, wallets: walletRows, accounts: accountRows };
  const accounts = new AccountService({ ...accountDeps, addresses, ownKeys });
  const assets = new AssetService({ database, registry, getFamily, accounts: accountRows, assets: assetRows });
  const transactions = new TransactionService(new TransactionRepository(database), new LiveStatusCache(workflows), addresses);
  const approvals = new Approvals({ mfa, outbox, log });
  const transfers = new TransferService({ ...deps, starts, addresses, outbox });
  const securityFactorRows = new SecurityFactorRepository(database);
  const securityFactors = new SecurityFactorService({ registry, getFamily, mfa, factors: securityFactorRows });
  const factorBatches = new SecurityFactorBatches({ factors: securityFactors, log });
  const webhookRows = new WebhookRepository(database);
  const webhooks = new WebhookService({ webhooks: webhookRows, mfa, box: boxes.webhooks, targets: deps.webhookTargets });
  const served = new ServedChains({ ...deps, addresses });
  const verifier = new PaymentVerifier({ ...deps, served });
  const x402 = new X402Service(database, registry, verifier, served);
  const watch = new SettlementWatch(database);
  const settlements = new SettlementService({ ...deps, starts, outbox, verifier, watch, waitMs: deps.settleWaitMs });
  const payments = new SignService({ ...deps, starts, addresses, outbox });
  const health = new HealthService(deps);
  const deliveries = new DeliveryService(database, webhookRows, new DeliveryRepository(database));
  return {
    routes: [
      ...authRoutes({
        auth: new AuthService(credentials, tokens, new LoginThrottle(database), database.manager),
        ttlSeconds: tokens.ttlSeconds,
        limited: limits.token,
      }),
      ...walletRoutes({ wallets, nodeKeys, authenticate, idempotent }),
      // a repeated request is answered from the database: sealed, so that nobody can put another address into it
      ...accountRoutes({ accounts, nodeKeys, authenticate, idempotent: idempotentSealed }),
      ...chainRoutes({ database, registry, getFamily, authenticate }),
      ...assetRoutes({ assets, registry, getFamily, authenticate, idempotent }),
      ...transferRoutes({ transfers, transactions, approvals, authenticate, idempotent: idempotentTransfer }),
      ...approvalRoutes({ approvals, transactions, registry, getFamily, authenticate, idempotent }),
      ...transactionRoutes({ transactions, registry, getFamily, authenticate }),
      ...securityFactorRoutes({ factors: securityFactors, batches: factorBatches, authenticate, idempotent }),
      ...webhookRoutes({ webhooks, deliveries, authenticate, idempotent, idempotentSealed }),
      ...x402Routes({ x402, settlements, authenticate }),
      ...signRoutes({ payments, registry, getFamily, authenticate, idempotent: idempotentSealed }),
    ],
    limits,
    outbox,
    operational: healthRoutes({ health }),
    events: eventDocs,
    health,
    watch,
    payments,
    housekeeping: [
      { name: 'forget old idempotency keys', everyMs: 60_000, run: () => idempotencyStore.sweep() },
      { name: 'forget accounts that nobody waits for', everyMs: 60_000, run: () => ownKeys.sweep() },
      {
        name: 'redo transfers that operators want redone',
        everyMs: 500,
        run: () => carryOutRedoRequests({ ...deps, starts, addresses, outbox }),
      },
      { name: 'forget old traces', everyMs: 60_000, run: () => sweepTraces(database) },
      { name: 'seal the audit log', everyMs: 2_000, run: async () => void (await sealAuditLog(database)) },
    ],
  };
}
