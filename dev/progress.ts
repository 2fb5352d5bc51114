/** One step of the start. `note` shows what is in progress. */
export interface Step {
  title: string;
  run(note: (text: string) => void): Promise<void>;
}

/** Runs stages in sequence and the steps of a stage concurrently. Fails with the first failure, which names its step. */
export type TaskRunner = (stages: Step[][]) => Promise<void>;

export const quietRunner: TaskRunner = async (stages) => {
  for (const steps of stages) await Promise.all(steps.map((step) => named(step)(() => undefined)));
};

/** For pipes and logs: a line for each completed step and each note. */
export const lineRunner =
  (write: (line: string) => void): TaskRunner =>
  async (stages) => {
    const runStep = async (step: Step): Promise<void> => {
      const startedAt = Date.now();
      await named(step)((text) => write(`  ${step.title}: ${text}`));
      write(`  ${step.title} (${((Date.now() - startedAt) / 1000).toFixed(1)} s)`);
    };
    for (const steps of stages) await Promise.all(steps.map(runStep));
  };

/** For terminals. */
export const terminalRunner: TaskRunner = async (stages) => {
  const { Listr } = await import('listr2');
  const asTask = (step: Step) => ({
    title: step.title,
    task: (_: unknown, task: { title: string }) =>
      named(step)((text) => (task.title = `${step.title}: ${text}`)).then(() => void (task.title = step.title)),
  });
  const options = {
    concurrent: true,
    exitOnError: true,
    rendererOptions: { showErrorMessage: false, collapseErrors: false, showTimer: true },
  };
  for (const steps of stages) await new Listr(steps.map(asTask), options).run();
};

function named(step: Step): Step['run'] {
  return async (note) => {
    try {
      await step.run(note);
    } catch (error) {
      throw new Error(`${step.title} failed: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
    }
  };
}
