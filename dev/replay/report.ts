import { type History, readRun } from './history';
import type { Divergence } from './replay';

/** What a run has gone through: a line a step, with the seconds since its start and the number of the event. */
export function timeline(history: History): string[] {
  const { workflow, steps, end } = readRun(history);
  const startedAt = history.events[0]?.eventTime ?? '';
  const line = (at: string, eventId: string, text: string) =>
    `${((Date.parse(at) - Date.parse(startedAt)) / 1e3).toFixed(3).padStart(12)} s  ${eventId.padStart(6)}  ${text}`;
  const last = history.events.at(-1);
  return [
    `${workflow}, started at ${startedAt}, ${history.events.length} events`,
    `${'time'.padStart(14)}  ${'event'.padStart(6)}  step`,
    ...steps.map(({ at, eventId, text }) => line(at, eventId, text)),
    line(last?.eventTime ?? startedAt, last?.eventId ?? '', `end: ${end}`),
  ];
}

export const replays = 'REPLAYS: the workflow code of this checkout does what the run has done';

const inOrder = (commands: string[]): string => (commands.length > 0 ? commands.join(', then ') : 'nothing');

export const describeDivergence = ({ taskId, history, code, message }: Divergence): string[] => [
  `DIVERGES in the workflow task of event ${taskId}: the workflow code of this checkout does not do what the run has done`,
  `  the history has    ${inOrder(history)}`,
  `  the code asks for  ${inOrder(code)}`,
  `  Temporal says      ${message}`,
  '  Of the code only activities, timers and continue as new are listed: `patched` and the end of a run are in the list of the history alone.',
];
