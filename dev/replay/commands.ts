import { proxySinks, type Sinks, workflowInfo, type WorkflowInterceptorsFactory } from '@temporalio/workflow';

/** Runs within the workflow's sandbox, beside its code: says what the code asks for while a history is replayed. */

export interface CommandSinks extends Sinks {
  commands: {
    /** @param taskId the number of the event with which the workflow task started */
    began(taskId: number): void;
    asked(command: string, taskId: number): void;
  };
}

const { commands } = proxySinks<CommandSinks>();
const asked = (command: string): void => commands.asked(command, workflowInfo().historyLength);

const kindOf = (args: unknown[]): string => {
  const kind = (args[0] as { kind?: unknown } | null | undefined)?.kind;
  return typeof kind === 'string' ? ` ${kind}` : '';
};

export const interceptors: WorkflowInterceptorsFactory = () => ({
  internals: [
    {
      activate: (input, next) => {
        commands.began(workflowInfo().historyLength);
        next(input);
      },
    },
  ],
  outbound: [
    {
      scheduleActivity: (input, next) => {
        asked(`activity ${input.activityType}${kindOf(input.args)}`);
        return next(input);
      },
      scheduleLocalActivity: (input, next) => {
        asked(`local activity ${input.activityType}${kindOf(input.args)}`);
        return next(input);
      },
      startTimer: (input, next) => {
        asked(`timer of ${input.durationMs / 1e3}s`);
        return next(input);
      },
      continueAsNew: (input, next) => {
        asked('continue as new');
        return next(input);
      },
    },
  ],
});
