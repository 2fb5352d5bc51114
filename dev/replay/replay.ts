import path from 'node:path';
import { bundleWorkflowCode, DefaultLogger, type InjectedSinks, Worker } from '@temporalio/worker';
import { distRoot } from './paths';
import type { CommandSinks } from './commands';
import { attributesOf, describeEvent, type History } from './history';

/** The workflow task in which code and history part. */
export interface Divergence {
  /** Of the event with which the task started. */
  taskId: number;
  /** The commands that the run had as a result of the task, in their order. */
  history: string[];
  /** What the code asks for in the same task. */
  code: string[];
  /** The SDK's own words. */
  message: string;
}

const quiet = new DefaultLogger('ERROR', () => undefined);

/**
 * Replays a history on the workflow code of this checkout. Returns nothing when it replays.
 * @param options.workflowsPath compiled workflows; by default those of this checkout
 * @param options.debugMode the code runs in this thread, where a debugger stops, and without a time-out
 */
export async function replay(
  history: History,
  { workflowsPath = path.join(distRoot, 'workflows', 'index.js'), debugMode = false } = {},
): Promise<Divergence | undefined> {
  let lastTask = 0;
  const asked: { command: string; taskId: number }[] = [];
  const sinks: InjectedSinks<CommandSinks> = {
    commands: {
      began: { callDuringReplay: true, fn: (_info, taskId) => void (lastTask = taskId) },
      asked: { callDuringReplay: true, fn: (_info, command, taskId) => void asked.push({ command, taskId }) },
    },
  };
  const interceptors = [path.join(distRoot, 'workflows', 'tracing.js'), path.join(distRoot, 'dev', 'replay', 'commands.js')];
  const workflowBundle = await bundleWorkflowCode({ workflowsPath, workflowInterceptorModules: interceptors, logger: quiet });
  const options = { workflowBundle, sinks, debugMode };
  try {
    await Worker.runReplayHistory(options, history);
    return undefined;
  } catch (error) {
    const message = toOwnWords(error);
    const taskId = findTask(history, message) ?? lastTask;
    const code = asked.filter((one) => one.taskId === taskId).map(({ command }) => command);
    return { taskId, history: commandsOf(history, taskId), code, message };
  }
}

/** Without the structures of Rust around them. */
function toOwnWords(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return /message: "(\[TMPRL\d+\] .*?)", source:/.exec(text)?.[1] ?? text;
}

/** Where the SDK names an event, as `HistoryEvent(id: 5, TimerStarted)`: the task whose result it is. */
function findTask({ events }: History, message: string): number | undefined {
  const [, eventId] = /HistoryEvent\(id: (\d+)/.exec(message) ?? [];
  const named = events.find((event) => event.eventId === eventId);
  const completedId = named && attributesOf(named).workflowTaskCompletedEventId;
  const completed = events.find((event) => event.eventId === completedId);
  const startedId = completed && attributesOf(completed).startedEventId;
  return startedId === undefined ? undefined : Number(startedId);
}

function commandsOf({ events }: History, taskId: number): string[] {
  const completed = events.find(
    (event) => event.workflowTaskCompletedEventAttributes && Number(attributesOf(event).startedEventId) === taskId,
  );
  return events
    .filter((event) => completed && attributesOf(event).workflowTaskCompletedEventId === completed.eventId)
    .map(describeEvent);
}
