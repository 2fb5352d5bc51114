/** One step of the start. `note` tells what takes long. */
export interface Step {
  title: string;
  run(note: (text: string) => void): Promise<void>;
}

/** Runs stages one after the other, the steps of a stage at once. Fails with the first failure, named after its step. */
export type StepRunner = (stages: Step[][]) => Promise<void>;

export const quietSteps: StepRunner = async (stages) => {
  for (const steps of stages) await Promise.all(steps.map((step) => named(step)(() => undefined)));
};

/** For pipes and logs: a line for each step when it is done, and for notes. */
export const plainSteps =
  (write: (line: string) => void): StepRunner =>
  async (stages) => {
    const runStep = async (step: Step): Promise<void> => {
      const startedAt = Date.now();
      await named(step)((text) => write(`  ${step.title}: ${text}`));
      write(`  ${step.title} (${((Date.now() - startedAt) / 1000).toFixed(1)} s)`);
    };
    for (const steps of stages) await Promise.all(steps.map(runStep));
  };

/** For terminals. */
export const terminalSteps: StepRunner = async (stages) => {
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
