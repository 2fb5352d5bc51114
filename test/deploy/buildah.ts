import path from 'node:path';
import { cacheFolder } from '../../dev/binaries';
import { run } from './commands';

/** What builds and loads take long for is kept here: images with their layers, Temporal's programs, packages. */
export const deployCache = path.join(cacheFolder(), 'deploy-test');

const minuteMs = 60_000;

/** The images and containers of the test alone; those of the machine's user are elsewhere. */
export class Buildah {
  constructor(readonly logFile: string) {}

  command(...args: string[]): string[] {
    const root = path.join(deployCache, 'storage');
    return ['buildah', '--root', root, '--runroot', '/run/custody-gateway-deploy-test', ...args];
  }

  run(args: string[], timeoutMs = 2 * minuteMs): Promise<string> {
    return run(this.command(...args), { timeoutMs, logFile: this.logFile }).then((output) => output.trim());
  }

  /** Makes an image unless there is one of the same recipe. `make` gets the name of a container, and the folder of its files. */
  async keepImage(
    image: string,
    { from, recipe, config }: { from: string; recipe: string; config: string[] },
    make: (container: string, folder: string) => Promise<void>,
  ): Promise<void> {
    if ((await this.recipeOf(image)) === recipe) return;
    const container = await this.run(['from', ...(from === 'scratch' ? [] : ['--pull-never']), from]);
    try {
      await make(container, await this.run(['mount', container]));
      await this.run(['config', '--label', `recipe=${recipe}`, ...config, container]);
      await this.run(['commit', '--quiet', container, image], 5 * minuteMs);
    } finally {
      await this.run(['rm', container]);
    }
  }

  /** A command in a container, as root and on the machine's network: for what is installed. */
  runInside(container: string, command: string[], timeoutMs = 10 * minuteMs): Promise<string> {
    return this.run(['run', '--isolation', 'chroot', container, '--', ...command], timeoutMs);
  }

  /** What the image starts with. */
  async startOf(image: string): Promise<{ entrypoint: string[]; command: string[] }> {
    const { OCIv1 } = JSON.parse(await this.run(['inspect', '--type', 'image', image])) as {
      OCIv1: { config?: { Entrypoint?: string[]; Cmd?: string[] } };
    };
    const { Entrypoint, Cmd } = OCIv1.config ?? {};
    return { entrypoint: Entrypoint ?? [], command: Cmd ?? [] };
  }

  private recipeOf(image: string): Promise<string | null> {
    const format = '{{index .OCIv1.Config.Labels "recipe"}}';
    return this.run(['inspect', '--type', 'image', '--format', format, image]).catch(() => null);
  }
}
