import type { NodeIndex } from '../messages/nodes';
import type { Proposal, ProposalAnswer, Roster } from './session-params';

/** What sessions require of the transport. Every call has a time-out and fails with a GatewayError. */
export interface PeerLink {
  propose(to: NodeIndex, proposal: Proposal): Promise<ProposalAnswer>;
  roster(to: NodeIndex, handle: string, roster: Roster): Promise<void>;
  message(to: NodeIndex, handle: string, round: number, body: Uint8Array, signature: Buffer): Promise<void>;
  abort(to: NodeIndex, handle: string, reason: string): Promise<void>;
}
