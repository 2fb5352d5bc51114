/**
 * Lines of workflows/ of which no history reaches a part, by the reason. Every other line has a history that runs through it, so a new
 * way of ending without one is noticed.
 */
export const exempt: Record<string, readonly string[]> = {
  'only a mistake in the code leads there': [
    'workflows/ask-nodes.ts: if (!isActivityError(error)) throw error;',
    'workflows/cancel-reopened.ts: if (!isActivityError(error) || isCancelled(error)) throw error;',
    "workflows/cancel-reopened.ts: return stage.next === 'park' ? stage : { code: 'stuck', reason: `Nothing was sent, and ${stage.next} would be next` };",
    "workflows/distribute-blacklist.ts: if (toProblem(error).code !== 'order_refused') throw error;",
    'workflows/transfer/ask.ts: if (!isActivityError(error) || isCancelled(error)) throw error;',
    'workflows/transfer/index.ts: if (!isActivityError(error) || isCancelled(error)) throw error;',
    "workflows/transfer/prepare.ts: case 'signed':",
    "workflows/transfer/resume.ts: case 'needs_approval':",
    "workflows/transfer/resume.ts: case 'wait':",
    'workflows/transfer/resume.ts: throw new Error(`a resumed attempt is not ${begun.outcome}`);',
    "workflows/transfer/sign.ts: if (!pair) throw new Error('no signing pair');",
    "workflows/transfer/state.ts: if (!this.held) throw new Error('the hold was not adopted yet');",
  ],
  'a limit that is reached after an hour, or after more messages than a test sends': [
    "workflows/transfer/prepare.ts: if (Date.now() >= until) return park('stuck', begun.reason, { next: 'prepare', kind });",
    "workflows/transfer/resume.ts: return park('stuck', 'The newest attempt could not be found', { next: 'resume', kind: newest });",
    "workflows/transfer/sign.ts: return park(retryable ? 'signers_unavailable' : code, message, ordered);",
    "workflows/transfer/state.ts: const isLong = workflowInfo().continueAsNewSuggested || (this.updates >= maxUpdates && patched('continue-after-updates'));",
    'workflows/transfer/state.ts: if (this.observations.length > keptObservations) this.observations.shift();',
    'workflows/progress.ts: if (this.timeline.length > timelineLimit) this.timeline.shift();',
  ],
  'an end between two steps that follow each other at once': [
    "workflows/cancel-reopened.ts: if (stage.next === 'lock' || stage.next === 'ended' || stage.next === 'broadcast') return undefined;",
    "workflows/transfer/resume.ts: if (adopted.outcome === 'ended') return ended(adopted);",
  ],
  'a run of an earlier release, on a chain whose blocks are slow': [
    "workflows/transfer/prepare.ts: return now === before || patched('estimate-within-minutes') ? now : before;",
  ],
  'not a part of a history': [
    "workflows/progress.ts: setHandler(statusQuery, () => this.current, { description: 'What the run does now, as GET /transactions/{tx_id} shows it.' });",
    "workflows/progress.ts: setHandler(timelineQuery, () => this.timeline, { description: 'The last steps of the run with their times.' });",
    'workflows/transfer/prepare.ts: watch.catch(() => undefined);',
    'workflows/transfer/index.ts: setHandler(abandonUpdate, abandoning, { validator: () => state.assertAbandonable(), description: descriptions.abandon });',
    'workflows/transfer/index.ts: setHandler(retryUpdate, retry, { validator: () => state.assertRetryable(), description: descriptions.retry });',
    'workflows/transfer/index.ts: setHandler(possibleUpdatesQuery, () => state.possibleUpdates, { description: descriptions.possible });',
  ],
  'histories are recorded on workers without a version': [
    "workflows/index.ts: workflowInfo().currentDeploymentVersion?.deploymentName ? ({ versioningBehavior: 'PINNED' } as const) : {};",
  ],
  'text in place of one that is missing': [
    "workflows/transfer/confirm.ts: const link = seen.hash && explorerTx?.replace('{hash}', seen.hash);",
    "workflows/transfer/index.ts: message: `${reason ?? 'The transfer failed'}. The amount is unlocked again; a new transfer can be made.`,",
    "workflows/transfer/index.ts: type: code ?? 'internal_error',",
    "workflows/transfer/settle.ts: return park(code ?? 'transfer_not_observed', reason ?? '', { next: 'confirm' }, null);",
  ],
};
