/** What the stack and its tests need of a simulator that runs in a process of its own. */
import { chainCommand, ControlClient } from '../control-client';
import type { Command } from '../processes';

export interface SimulatorProcess {
  port: number;
  blockMs: number;
  solidLag: number;
  /** The chain's state, which a later start continues. */
  stateFile: string;
}

/** An idle chain needs 100 MB. */
const heapMb = 160;

export const simulatorCommand = ({ port, blockMs, solidLag, stateFile }: SimulatorProcess): Command =>
  chainCommand('tron', heapMb, { port, 'block-ms': blockMs, 'solid-lag': solidLag, state: stateFile });

export interface SimulatorStatus {
  head: number;
  head_id: string;
  head_time_ms: number;
  solidified: number;
  earliest: number;
  pending: number;
  /** Symbol to address. */
  tokens: Record<string, string>;
}

/** The simulator's own paths. */
export class SimulatorClient extends ControlClient<SimulatorStatus> {
  constructor(url: string) {
    super(url, 'simulator');
  }
}
