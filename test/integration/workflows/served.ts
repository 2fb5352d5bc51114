import { Worker, type WorkerOptions } from '@temporalio/worker';
import { tracedWorker } from '../../../src/processes/traced-worker';
import { type ServedTemporal, startTemporal, type TemporalOptions, workflowBundle } from '../../temporal';

type Activities = Record<string, (input: never) => unknown>;

/** A Temporal server and real workflows for every test of a file; the activities of each task queue are given. */
export class ServedActivities {
  temporal!: ServedTemporal;
  private workers: { worker: Worker; done: Promise<void> }[] = [];

  constructor(options: TemporalOptions = {}) {
    beforeAll(async () => {
      this.temporal = await startTemporal(options);
    });
    afterEach(async () => {
      for (const { worker } of this.workers) worker.shutdown();
      await Promise.all(this.workers.map(({ done }) => done));
      this.workers = [];
    });
    afterAll(() => this.temporal.teardown());
  }

  /** `runsWorkflows`: the task queue of workflows, whose worker has their code too. `more`: other options of this worker. */
  async serve(
    taskQueue: string,
    activities: Activities,
    { runsWorkflows = false, ...more }: { runsWorkflows?: boolean } & Partial<WorkerOptions> = {},
  ): Promise<void> {
    const { nativeConnection: connection, namespace } = this.temporal;
    const worker = await Worker.create({
      ...{ ...tracedWorker, connection, namespace, shutdownGraceTime: 100, ...more, taskQueue, activities },
      ...(runsWorkflows && { workflowBundle }),
    });
    this.workers.push({ worker, done: worker.run() });
  }
}
