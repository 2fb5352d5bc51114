import { isAddress } from '@solana/kit';
import { TronWeb } from 'tronweb';
import { getAddress } from 'viem';
import { networks } from '../../../src/chains/bitcoin/network';
import { networks as solanaNetworks } from '../../../src/chains/solana/network';
import { networks as tronNetworks } from '../../../src/chains/tron/network';
import { parseChainId } from '../../../src/chains/evm/chain-id';
import { readRpcUrls } from '../../../src/chains/config';
import { loadRegistry, tokenByContract, tokenBySymbol } from '../../../src/chains/registry';
import { getChains } from '../../../src/chains/registry/data';
import type { GatewayEnvironment } from '../../../src/chains/types';
import { ConfigError } from '../../../src/platform/config';

const environments: GatewayEnvironment[] = ['production', 'sandbox', 'local'];
const names = ['ethereum', 'bsc', 'polygon', 'arbitrum', 'optimism', 'avalanche', 'base'];

describe.each(environments)('registry of %s', (environment) => {
  const all = getChains(environment);
  const chains = all.filter(({ family }) => family === 'evm');

  it('has each of the seven EVM chains, Bitcoin, Tron and Solana once', () => {
    expect(all.map(({ name }) => name)).toEqual([
      ...names,
      'bitcoin',
      ...(environment === 'sandbox' ? ['bitcoin-testnet4'] : []),
      'tron',
      'solana',
    ]);
    expect(new Set(all.map(({ caip2 }) => caip2)).size).toBe(all.length);
  });

  const bitcoins = all.filter(({ native }) => native.symbol === 'BTC');
  it.each(bitcoins)('names $name as its family does, by its genesis block, with depths that follow each other', (bitcoin) => {
    const network = networks.find(({ family }) => family === bitcoin.family);
    expect(bitcoin.caip2).toBe(network?.caip2);
    expect(bitcoin.caip2).toBe(`bip122:${bitcoin.genesisHash?.slice(0, 32)}`);
    expect(bitcoin.native).toMatchObject({ symbol: 'BTC', decimals: 8, contract: null });
    expect(bitcoin.fallbackFeeLevels).toEqual({ rate: environment === 'production' ? '20' : '2' });
    expect(bitcoin.finalityDepth).toBeGreaterThan(bitcoin.confirmations);
    expect(bitcoin.stuckAfterMs).toBeGreaterThan(bitcoin.blockTimeMs * 2);
  });

  const trons = all.filter(({ native }) => native.symbol === 'TRX');
  it.each(trons)('names $name as its family does, by its genesis block, with valid tokens', (tron) => {
    const network = tronNetworks.find(({ family }) => family === tron.family);
    expect(tron.caip2).toBe(network?.caip2);
    if (environment === 'local') expect([tron.genesisHash, tron.caip2]).toEqual([null, 'tron:local']);
    else expect(tron.caip2).toBe(`tron:${Number.parseInt(tron.genesisHash?.slice(-8) ?? '', 16)}`);
    expect(tron.native).toMatchObject({ decimals: 6, contract: null });
    expect(tron.finalityDepth).toBeGreaterThan(tron.confirmations);
    // solidified, 19 blocks later, and as deep as watching goes
    expect(tron.stuckAfterMs).toBeGreaterThan(tron.blockTimeMs * (19 + tron.finalityDepth));
    for (const { contract, assetType, decimals } of tron.tokens) {
      expect(TronWeb.isAddress(contract)).toBe(true);
      expect([assetType, decimals]).toEqual(['TRC20', 6]);
    }
    const symbols = { production: ['USDT'], sandbox: [], local: ['USDT', 'USDC'] };
    expect(tron.tokens.map(({ symbol }) => symbol)).toEqual(symbols[environment]);
  });

  const solanas = all.filter(({ native }) => native.symbol === 'SOL');
  it.each(solanas)('names $name as its family does, by its genesis block, with valid tokens', (solana) => {
    const network = solanaNetworks.find(({ family }) => family === solana.family);
    expect(solana.caip2).toBe(network?.caip2);
    const [mainnet] = getChains('production').filter(({ native }) => native.symbol === 'SOL');
    if (environment === 'local') expect([solana.genesisHash, solana.caip2]).toEqual([null, mainnet?.caip2]);
    else expect(solana.caip2).toBe(`solana:${solana.genesisHash?.slice(0, 32)}`);
    expect(solana.native).toMatchObject({ decimals: 9, contract: null });
    expect(solana.finalityDepth).toBeGreaterThan(solana.confirmations);
    // as long as a block hash is valid
    expect(solana.stuckAfterMs).toBeGreaterThanOrEqual(solana.blockTimeMs * 150);
    for (const { contract, assetType, decimals } of solana.tokens) {
      expect(isAddress(contract ?? '')).toBe(true);
      expect([assetType, decimals]).toEqual(['SPL', 6]);
    }
    const symbols = { production: ['USDC', 'USDT'], sandbox: ['USDC'], local: ['USDC', 'USDT'] };
    expect(solana.tokens.map(({ symbol }) => symbol)).toEqual(symbols[environment]);
  });

  it.each(chains)('$name is consistent', (chain) => {
    expect(chain.caip2).toMatch(/^eip155:[1-9]\d*$/);
    expect(chain.finalityDepth).toBeGreaterThan(chain.confirmations);
    expect(chain.confirmations).toBeGreaterThanOrEqual(1);
    expect(chain.maxNetworkFee).toBeGreaterThan(0n);
    expect(chain.native).toMatchObject({ decimals: 18, assetType: 'NATIVE', contract: null });
    if (environment === 'local') expect(chain.genesisHash).toBeNull();
    else expect(chain.genesisHash).toMatch(/^0x[0-9a-f]{64}$/);
    if (chain.explorerTx !== null) expect(chain.explorerTx).toMatch(/^https:\/\/.*\{hash\}$/);
  });

  // a transfer waits for the follower's message no longer than `stuckAfterMs`, then asks the chain (workflows/transfer/confirm.ts): a block until
  // one has it, its confirmations, and one until the follower has told of the last of them
  it.each(chains)(
    '$name: a transfer of the next block is confirmed by the follower’s message before it would ask the chain itself',
    ({ stuckAfterMs, confirmations, blockTimeMs }) => {
      expect(stuckAfterMs).toBeGreaterThan((confirmations + 2) * blockTimeMs);
    },
  );

  it.each(chains)('$name has tokens with valid, distinct contracts', (chain) => {
    const contracts = chain.tokens.map(({ contract }) => contract as string);
    for (const contract of contracts) expect(getAddress(contract.toLowerCase())).toBe(contract);
    expect(new Set(contracts).size).toBe(contracts.length);
    const symbols = [chain.native, ...chain.tokens].map(({ symbol }) => symbol);
    expect(new Set(symbols).size).toBe(symbols.length);
    for (const { assetType } of chain.tokens) expect(assetType).toBe(chain.name === 'bsc' ? 'BEP20' : 'ERC20');
  });
});

describe('registry', () => {
  it('has the official chain ids', () => {
    const ids = (environment: GatewayEnvironment) =>
      Object.fromEntries(
        getChains(environment)
          .filter(({ family }) => family === 'evm')
          .map((chain) => [chain.name, parseChainId(chain)]),
      );
    const production = { ethereum: 1, bsc: 56, polygon: 137, arbitrum: 42161, optimism: 10, avalanche: 43114, base: 8453 };
    expect(ids('production')).toEqual(production);
    expect(ids('local')).toEqual(production);
    expect(ids('sandbox')).toEqual({
      ethereum: 11155111,
      bsc: 97,
      polygon: 80002,
      arbitrum: 421614,
      optimism: 11155420,
      avalanche: 43113,
      base: 84532,
    });
  });

  it('has the ids of production in `local` on all EVM chains and Solana, and none of another environment in `sandbox`, as docs/deployment.md says', () => {
    const ids = (environment: GatewayEnvironment) => getChains(environment).map(({ caip2 }) => caip2);
    const shared = getChains('local').filter(({ caip2 }) => ids('production').includes(caip2));
    const ofDocument = getChains('local').filter(({ family, name }) => family === 'evm' || name === 'solana');
    expect(shared.map(({ name }) => name)).toEqual(ofDocument.map(({ name }) => name));
    expect(ids('sandbox').filter((id) => [...ids('production'), ...ids('local')].includes(id))).toEqual([]);
  });

  it('never has a production contract on a testnet, nor the other way round', () => {
    const contracts = (environment: GatewayEnvironment) =>
      getChains(environment).flatMap(({ tokens }) => tokens.map(({ contract }) => contract));
    expect(contracts('production').filter((contract) => contracts('sandbox').includes(contract))).toEqual([]);
  });

  it('has 18 decimals for the tokens pegged on bsc', () => {
    const bsc = getChains('production').find(({ name }) => name === 'bsc');
    expect(bsc?.tokens.map(({ decimals }) => decimals)).toEqual([18, 18]);
  });

  it('finds tokens by symbol and by contract in any letter case', () => {
    const ethereum = loadRegistry('production', ['ethereum']).get('ethereum');
    const usdc = tokenBySymbol(ethereum, 'USDC');
    expect(tokenByContract(ethereum, (usdc?.contract ?? '').toUpperCase().replace('0X', '0x'))).toBe(usdc);
    expect(tokenByContract(ethereum, null)?.symbol).toBe('ETH');
  });

  it('refuses a chain that the profile does not have', () => {
    expect(() => loadRegistry('sandbox', ['dogecoin'])).toThrow(/CHAINS names dogecoin/);
  });
});

describe('CHAIN_<NAME>_RPC_URLS', () => {
  it('has an underscore for a hyphen', () => {
    const urls = readRpcUrls(['bitcoin-testnet4'], { CHAIN_BITCOIN_TESTNET4_RPC_URLS: 'http://127.0.0.1:48332' });
    expect([...urls]).toEqual([['bitcoin-testnet4', ['http://127.0.0.1:48332']]]);
  });

  it('is a list', () => {
    const urls = readRpcUrls(['base'], { CHAIN_BASE_RPC_URLS: ' https://a.example/key , http://127.0.0.1:8545' });
    expect(urls.get('base')).toEqual(['https://a.example/key', 'http://127.0.0.1:8545']);
  });

  it.each([
    ['missing', undefined],
    ['empty', ' , '],
    ['no url', 'localhost:8545'],
    ['another scheme', 'ws://127.0.0.1:8545'],
    ['twice the same', 'http://a.example,http://a.example'],
    ['too many', Array.from({ length: 9 }, (_, i) => `http://a${i}.example`).join()],
  ])('%s: an error that names the variable and repeats no url', (_, value) => {
    const read = () => readRpcUrls(['base'], { CHAIN_BASE_RPC_URLS: value });
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(/^CHAIN_BASE_RPC_URLS /);
    expect(read).not.toThrow(/8545|example/);
  });
});
