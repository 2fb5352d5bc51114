import { Clients0001 } from './0001-clients';
import { Wallets0002 } from './0002-wallets';
import { Assets0003 } from './0003-assets';
import { Transactions0004 } from './0004-transactions';
import { TransactionStates0005 } from './0005-transaction-states';
import { Attempts0006 } from './0006-attempts';
import { Ledger0007 } from './0007-ledger';
import { TransactionMoney0008 } from './0008-transaction-money';
import { Following0009 } from './0009-following';
import { Audit0010 } from './0010-audit';
import { SecurityFactors0011 } from './0011-security-factors';
import { Screening0012 } from './0012-screening';
import { Webhooks0013 } from './0013-webhooks';
import { WebhookEvents0014 } from './0014-webhook-events';
import { Requests0015 } from './0015-requests';
import { WorkflowOutbox0016 } from './0016-workflow-outbox';
import { Orders0017 } from './0017-orders';
import { Logins0018 } from './0018-logins';
import { LoginRules0019 } from './0019-login-rules';
import { OrderComparison0020 } from './0020-order-comparison';
import { House0021 } from './0021-house';
import { Settlers0022 } from './0022-settlers';
import { X4020023 } from './0023-x402';
import { Refusals0024 } from './0024-refusals';
import { Gas0025 } from './0025-gas';
import { ForeignOrdinals0026 } from './0026-foreign-ordinals';
import { Approvals0027 } from './0027-approvals';
import { Authorisations0028 } from './0028-authorisations';
import { X402Limits0029 } from './0029-x402-limits';
import { Outputs0031 } from './0031-outputs';
import { Unconfirmed0032 } from './0032-unconfirmed';
import { ForeignSpends0033 } from './0033-foreign-spends';
import { PendingDeposits0034 } from './0034-pending-deposits';
import { Consolidations0035 } from './0035-consolidations';
import { Withdrawals0037 } from './0037-withdrawals';
import { AuthoriserRules0040 } from './0040-authoriser-rules';
import { AccountKeys0041 } from './0041-account-keys';
import { ProgramAddresses0042 } from './0042-program-addresses';
import { Memos0043 } from './0043-memos';
import { WouldRevert0045 } from './0045-would-revert';
import { PaidInFull0046 } from './0046-paid-in-full';
import { WalletFactories0049 } from './0049-wallet-factories';
import { SignedTransactions0052 } from './0052-signed-transactions';
import { OrphanedDeposits0054 } from './0054-orphaned-deposits';
import { DoubtedAnswers0058 } from './0058-doubted-answers';
import { OutputsBySpending0059 } from './0059-outputs-by-spending';
import { SenderLines0061 } from './0061-sender-lines';
import { NothingMoved0062 } from './0062-nothing-moved';
import { ForeignTransactions0063 } from './0063-foreign-transactions';
import { WalletSums0064 } from './0064-wallet-sums';
import { ListTotals0065 } from './0065-list-totals';
import { BlacklistClaims0066 } from './0066-blacklist-claims';
import { PayerBrake0068 } from './0068-payer-brake';
import { AgreedProofs0072 } from './0072-agreed-proofs';
import { ReopenedFailures0076 } from './0076-reopened-failures';
import { RequestTraces0073 } from './0073-request-traces';
import { AttemptLeases0074 } from './0074-attempt-leases';
import { OutboxTurns0077 } from './0077-outbox-turns';
import { AgreedProofsOnly0079 } from './0079-agreed-proofs-only';
import { ListFilters0080 } from './0080-list-filters';
import { ExternalIds0081 } from './0081-external-ids';
import { OwnNames0083 } from './0083-own-names';
import { OperatorsSeeWebhooks0084 } from './0084-operators-see-webhooks';
import { Rejections0085 } from './0085-rejections';
import { RedoneTransfers0086 } from './0086-redone-transfers';
import { NeedsAttention0087 } from './0087-needs-attention';
import { RebuiltWithdrawals0088 } from './0088-rebuilt-withdrawals';
import { RebuiltTopUps0089 } from './0089-rebuilt-top-ups';
import { RebuiltTopUpCosts0090 } from './0090-rebuilt-top-up-costs';
import { CancelledWithdrawals0092 } from './0092-cancelled-withdrawals';
import { PostponedMessages0093 } from './0093-postponed-messages';
import { ListCounts0094 } from './0094-list-counts';
import { ShownAssets0095 } from './0095-shown-assets';
import { CancelledRequests0097 } from './0097-cancelled-requests';
import { AddedAssets0098 } from './0098-added-assets';
import { UntracedBlocks0099 } from './0099-untraced-blocks';
import { MoneyCheckPlan0100 } from './0100-money-check-plan';
import { PreviousSecrets0101 } from './0101-previous-secrets';
import { ExecutedTwice0102 } from './0102-executed-twice';
import { MadeWithdrawals0103 } from './0103-made-withdrawals';
import { MarkMadeWithdrawals0104 } from './0104-mark-made-withdrawals';
import { ListsByChain0105 } from './0105-lists-by-chain';
import { PooledKeys0070 } from './0070-pooled-keys';

/** In this order. A released migration is never edited: a change is a new file. */
export const migrations = [
  Clients0001,
  Wallets0002,
  Assets0003,
  Transactions0004,
  TransactionStates0005,
  Attempts0006,
  Ledger0007,
  TransactionMoney0008,
  Following0009,
  Audit0010,
  SecurityFactors0011,
  Screening0012,
  Webhooks0013,
  WebhookEvents0014,
  Requests0015,
  WorkflowOutbox0016,
  Orders0017,
  Logins0018,
  LoginRules0019,
  OrderComparison0020,
  House0021,
  Settlers0022,
  X4020023,
  Refusals0024,
  Gas0025,
  ForeignOrdinals0026,
  Approvals0027,
  Authorisations0028,
  X402Limits0029,
  Outputs0031,
  Unconfirmed0032,
  ForeignSpends0033,
  PendingDeposits0034,
  Consolidations0035,
  Withdrawals0037,
  AuthoriserRules0040,
  AccountKeys0041,
  ProgramAddresses0042,
  Memos0043,
  WouldRevert0045,
  PaidInFull0046,
  WalletFactories0049,
  SignedTransactions0052,
  OrphanedDeposits0054,
  DoubtedAnswers0058,
  OutputsBySpending0059,
  SenderLines0061,
  NothingMoved0062,
  ForeignTransactions0063,
  WalletSums0064,
  ListTotals0065,
  BlacklistClaims0066,
  PayerBrake0068,
  PooledKeys0070,
  AgreedProofs0072,
  ReopenedFailures0076,
  RequestTraces0073,
  AttemptLeases0074,
  OutboxTurns0077,
  AgreedProofsOnly0079,
  ListFilters0080,
  ExternalIds0081,
  OwnNames0083,
  OperatorsSeeWebhooks0084,
  Rejections0085,
  RedoneTransfers0086,
  NeedsAttention0087,
  RebuiltWithdrawals0088,
  RebuiltTopUps0089,
  RebuiltTopUpCosts0090,
  CancelledWithdrawals0092,
  PostponedMessages0093,
  ListCounts0094,
  ShownAssets0095,
  CancelledRequests0097,
  AddedAssets0098,
  UntracedBlocks0099,
  MoneyCheckPlan0100,
  PreviousSecrets0101,
  ExecutedTwice0102,
  MadeWithdrawals0103,
  MarkMadeWithdrawals0104,
  ListsByChain0105,
];
