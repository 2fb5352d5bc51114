import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { packagesOfImages } from '../unit/deploy/packages';
import type { Buildah } from './buildah';

/** What npm has installed, and what was copied of it. */
const lists: Record<string, (app: string) => string[]> = {
  gateway: (app) => {
    const { packages } = JSON.parse(readFileSync(path.join(app, 'node_modules/.package-lock.json'), 'utf8')) as {
      packages: object;
    };
    // after `npm prune` it also has one that was never there, for another kind of processor
    return Object.keys(packages).filter((folder) => existsSync(path.join(app, folder)));
  },
  'mpc-node': (app) => readFileSync(path.join(app, 'packages.txt'), 'utf8').trimEnd().split('\n'),
};

/** Compares the packages in the images with those that the lock file gives. @throws Error naming those that differ */
export async function assertPackages(buildah: Buildah, images: Readonly<Record<string, string>>): Promise<void> {
  const expected = await packagesOfImages();
  for (const [target, list] of Object.entries(lists)) {
    const container = await buildah.run(['from', '--pull-never', images[target] ?? '']);
    try {
      const found = list(path.join(await buildah.run(['mount', container]), 'app'));
      const wanted = expected[target] ?? [];
      const missing = wanted.filter((name) => !found.includes(name));
      const more = found.filter((name) => !wanted.includes(name));
      if (missing.length + more.length > 0)
        throw new Error(
          `the image ${target} lacks ${missing.join(', ') || 'no package'}, and has also ${more.join(', ') || 'none'}`,
        );
    } finally {
      await buildah.run(['rm', container]);
    }
  }
}
