/**
 * What the network's committee has set. Sources: java-tron 4.8, Wallet.getChainParameters (names) and
 * DynamicPropertiesStore; TRON's documents: mechanism-algorithm/resource (600 free bandwidth, 1,000 sun a byte, 0.1 TRX and 1 TRX for
 * a new account, 100 sun a unit of energy, fee_limit up to 15,000 TRX), api/http/node-and-tools/getenergyprices and getbandwidthprices.
 */
export interface Parameters {
  /** Sun a byte. */
  transactionFeeSun: bigint;
  /** Sun a unit of energy. */
  energyFeeSun: bigint;
  /** Sun, for a new account's bandwidth when none is staked for. */
  createAccountFeeSun: bigint;
  /** Sun, in addition. */
  newAccountFeeSun: bigint;
  memoFeeSun: bigint;
  maxFeeLimitSun: bigint;
  /** Bytes a day. */
  freeNetLimit: bigint;
  maxCreateAccountBytes: number;
}

export const mainnetParameters: Parameters = {
  transactionFeeSun: 1_000n,
  energyFeeSun: 100n,
  createAccountFeeSun: 100_000n,
  newAccountFeeSun: 1_000_000n,
  memoFeeSun: 1_000_000n,
  maxFeeLimitSun: 15_000_000_000n,
  freeNetLimit: 600n,
  maxCreateAccountBytes: 1_000,
};

/** Constant.java. */
export const limits = {
  transactionBytes: 500 * 1_024,
  /** Room for the result, which counts as bandwidth. */
  resultBytes: 64,
  signatureBytes: 65,
  expirationMs: 24 * 3_600_000,
  /** Energy of a call that changes nothing. */
  constantEnergy: 3_000_000n,
};

/** Parameter.java: ChainConstant and NodeConstant; DynamicPropertiesStore: TotalSignNum. */
export const chainLimits = { blockBytes: 2_000_000, pending: 2_000, signatures: 5 };
/** ref_block_bytes are two bytes of a block's number (RecentBlockStore). */
export const recentBlocks = 65_536;

/** Of all who stake (an answer of getaccountresource in TRON's documents); limits of an account are set by a faucet instead. */
export const totals = {
  net: 43_200_000_000n,
  netWeight: 68_305_209_098n,
  energy: 180_000_000_000n,
  energyWeight: 2_411_528_185n,
};

/** The answer of getchainparameters; those that have no part in fees are left out. */
export function chainParameters(parameters: Parameters): { key: string; value?: bigint }[] {
  const values: Record<string, bigint> = {
    getMaintenanceTimeInterval: 21_600_000n,
    getAccountUpgradeCost: 9_999_000_000n,
    getCreateAccountFee: parameters.createAccountFeeSun,
    getTransactionFee: parameters.transactionFeeSun,
    getAssetIssueFee: 1_024_000_000n,
    getCreateNewAccountFeeInSystemContract: parameters.newAccountFeeSun,
    getCreateNewAccountBandwidthRate: 1n,
    getAllowCreationOfContracts: 1n,
    getRemoveThePowerOfTheGr: -1n,
    getEnergyFee: parameters.energyFeeSun,
    getMaxCpuTimeOfOneTx: 80n,
    getAllowUpdateAccountName: 0n,
    getAllowSameTokenName: 1n,
    getAllowDelegateResource: 1n,
    getTotalEnergyLimit: totals.energy,
    getAllowTvmTransferTrc10: 1n,
    getTotalEnergyCurrentLimit: totals.energy,
    getAllowMultiSign: 1n,
    getAllowAdaptiveEnergy: 0n,
    getUpdateAccountPermissionFee: 100_000_000n,
    getMultiSignFee: 1_000_000n,
    getAllowProtoFilterNum: 0n,
    getAllowTvmConstantinople: 1n,
    getForbidTransferToContract: 1n,
    getAllowTransactionFeePool: 0n,
    getMaxFeeLimit: parameters.maxFeeLimitSun,
    getAllowTvmCompatibleEvm: 1n,
    getFreeNetLimit: parameters.freeNetLimit,
    getTotalNetLimit: totals.net,
    getMemoFee: parameters.memoFeeSun,
    getUnfreezeDelayDays: 14n,
    getAllowDynamicEnergy: 1n,
    getDynamicEnergyThreshold: 5_000_000_000n,
    getDynamicEnergyIncreaseFactor: 2_000n,
    getDynamicEnergyMaxFactor: 34_000n,
    getAllowTvmShangHai: 1n,
    getMaxCreateAccountTxSize: BigInt(parameters.maxCreateAccountBytes),
    getAllowTvmCancun: 1n,
  };
  return Object.entries(values).map(([key, value]) => (value === 0n ? { key } : { key, value }));
}
