import { randomBytes } from 'node:crypto';
import type { KeyProtocol } from '../../src/chains/types';
import type { NodeIndex } from '../../src/messages/nodes';
import { signEnvelope } from '../../src/mpc/envelope';
import { deriveSessionId, type SessionKind, type SessionParams } from '../../src/mpc/session-params';
import { signStatement, type SignedStatement } from '../../src/mpc/statement';
import { parsePeers, TransportClient } from '../../src/mpc/transport-client';
import { nodeEnvironment, nodeIdentity, nodeQuery } from './nodes';
import type { OrderedTransfer } from './transfers';

/** The cheating node. */
export const cheat: NodeIndex = 3;

/** Node 3's certificate without its program: proposes whatever a test wants to the other two. */
export class ForgingPeer {
  private readonly identity = nodeIdentity(cheat);
  private readonly client = new TransportClient(this.identity, parsePeers(nodeEnvironment(cheat).MPC_NODE_PEERS ?? ''));

  constructor(private readonly protocol: KeyProtocol) {}

  /** Resolves with the answer of a node that takes part. @throws GatewayError with the code of its refusal. */
  propose(to: NodeIndex, kind: SessionKind, request: unknown, statement?: SignedStatement) {
    const params = this.toParams(to, kind, request);
    return this.client.propose(to, { params, randomness: randomBytes(32), ...(statement && { statement }) });
  }

  /** A session for the first signing payload of an order's bytes; `statement`: node 3's own journal entry. @throws GatewayError */
  proposeToSign(to: NodeIndex, { order, unsigned }: Pick<OrderedTransfer, 'order' | 'unsigned'>, statement?: SignedStatement) {
    return this.propose(to, 'sign', { transaction: { order, unsigned, peer: to }, payload: 0 }, statement);
  }

  /** Begins a session for a test signature with the message of a later round, properly signed. @throws GatewayError */
  async beginWithRound(round: number, to: NodeIndex, request: unknown): Promise<void> {
    const params = this.toParams(to, 'test', request);
    const randomness = randomBytes(32);
    const answer = await this.client.propose(to, { params, randomness });
    if ('recorded' in answer) throw new Error('a test signature is never recorded');
    const shared = new Map<NodeIndex, Buffer>([
      [cheat, randomness],
      [to, answer.randomness],
    ]);
    const body = randomBytes(100);
    const envelope = { sessionId: deriveSessionId(params, shared), round, from: cheat, to };
    await this.client.message(
      to,
      randomness.toString('hex'),
      round,
      body,
      signEnvelope(envelope, body, this.identity.signingKey),
    );
  }

  /** Node 3's own journal entry about a session with a peer, made from the one that node 1 has written about a transfer. */
  async entry(to: NodeIndex, txId: string, changes: object = {}): Promise<SignedStatement> {
    const [made] = await nodeQuery<{ statement: string }>(1, 'select statement from journal where tx_id = $1', [txId]);
    const own = { node: cheat, number: Date.now() * 1000, peer: to, initiator: cheat, admitted_at: new Date().toISOString() };
    const fields = { ...(JSON.parse(made?.statement ?? '{}') as object), ...own, ...changes };
    return signStatement('entry', fields, this.identity.signingKey);
  }

  /** Writes such an entry into node 3's own journal, as its program would have: what the peers keep of it is on record then. */
  async record({ text, signature }: SignedStatement, { claims, order, unsigned }: OrderedTransfer): Promise<void> {
    const { number } = JSON.parse(text) as { number: number };
    const values = [text, signature, claims.jti, order, unsigned];
    await nodeQuery(
      cheat,
      `select admit_signature($1, $2, '{}', null, $3, $4, $5, false, 32, 1000, null, null, null, null)`,
      values,
    );
    await nodeQuery(cheat, `select finish_signature($1, 'not_begun', null, null, null, null)`, [number]);
  }

  ban(to: NodeIndex, statement: SignedStatement): Promise<void> {
    return this.client.ban(to, statement);
  }

  close(): void {
    this.client.close();
  }

  private toParams(to: NodeIndex, kind: SessionKind, request: unknown): SessionParams {
    return {
      protocol: this.protocol,
      kind,
      initiator: cheat,
      participants: kind === 'keygen' ? [1, 2, 3] : [to, cheat],
      request: JSON.stringify(request),
    };
  }
}
