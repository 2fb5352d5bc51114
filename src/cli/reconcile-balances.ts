import type { EntityManager } from 'typeorm';
import type { ChainClient } from '../chains/chain-client';
import { findUnspent } from '../chains/outputs';
import type { AccountOnChain, LedgerDifference } from '../ledger/compare-with-chain';
import { ConfigError } from '../platform/config';
import { GatewayError } from '../platform/errors';
import type { GetClient } from './explain/chain';

/** Outputs of one account that a chain is asked about. */
const maxOutputs = 1_000;

/** The chains that can be asked, each with one client. */
export class AskedChains {
  /** Chains without endpoints in the environment, or whose endpoints cannot be used. */
  readonly notAsked = new Set<string>();
  /** Endpoints that serve another chain. */
  readonly problems: LedgerDifference[] = [];
  private readonly clients = new Map<string, Promise<ChainClient | null>>();

  constructor(private readonly getClient: GetClient) {}

  find(chain: string): Promise<ChainClient | null> {
    const known = this.clients.get(chain) ?? this.create(chain);
    this.clients.set(chain, known);
    return known;
  }

  private async create(chain: string): Promise<ChainClient | null> {
    let client: ChainClient | undefined;
    try {
      client = this.getClient(chain);
      await client.verifyIdentity();
      return client;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.notAsked.add(chain);
      if (client)
        this.problems.push({
          check: 'the endpoints are of the chain',
          subject: chain,
          expected: chain,
          actual: error.message,
        });
      return null;
    }
  }
}

/** Reads what accounts have on their chains: a balance, or the outputs that the database knows. */
export class Balances {
  count = 0;
  readonly notAsked = new Set<string>();
  readonly problems: LedgerDifference[] = [];

  constructor(
    private readonly manager: EntityManager,
    private readonly chains: AskedChains,
  ) {}

  /** Atomic units; null: it could not be read. */
  async read(account: AccountOnChain): Promise<bigint | null> {
    const { chain, address, symbol } = account;
    const client = await this.chains.find(chain);
    if (!client) return null;
    try {
      const balance = await this.ask(client, account);
      if (balance === null) this.notAsked.add(chain);
      else this.count += 1;
      return balance;
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      this.problems.push({
        check: 'the chain shows the balance',
        subject: `${chain} ${address}`,
        expected: symbol,
        actual: error.message,
      });
      return null;
    }
  }

  /** null: nobody can be asked, or about too many outputs. */
  private async ask(
    client: ChainClient,
    { chain, address, addressKey, contractAddress }: AccountOnChain,
  ): Promise<bigint | null> {
    if (client.balance) return client.balance(address, contractAddress);
    if (!client.unspent || contractAddress !== null) return null;
    const outputs = await findUnspent(this.manager, { chain, addressKey }, maxOutputs + 1);
    if (outputs.length > maxOutputs) return null;
    const unspent = await client.unspent(outputs.map(({ resource }) => resource));
    return outputs.reduce((sum, { resource, amount }) => (unspent.has(resource) ? sum + amount : sum), 0n);
  }
}
