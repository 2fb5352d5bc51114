import { readFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../../dev/paths';
import type { Buildah } from './buildah';

/** Packages in the images, by what installs them. @throws Error when docs/deployment.md says another number */
export async function assertPackageCounts(buildah: Buildah, images: Readonly<Record<string, string>>): Promise<void> {
  const counts = {
    gateway: (text: string) => Object.keys((JSON.parse(text) as { packages: object }).packages).length,
    'mpc-node': (text: string) => text.trimEnd().split('\n').length,
  };
  const files = { gateway: 'app/node_modules/.package-lock.json', 'mpc-node': 'app/packages.txt' };
  const text = readFileSync(path.join(projectRoot, 'docs/deployment.md'), 'utf8');
  for (const [target, count] of Object.entries(counts)) {
    const container = await buildah.run(['from', '--pull-never', images[target] ?? '']);
    try {
      const folder = await buildah.run(['mount', container]);
      const found = count(readFileSync(path.join(folder, files[target as keyof typeof files]), 'utf8'));
      const said = Number(new RegExp(`^\\| \`${target}\` .*\\| (\\d+) +\\|$`, 'm').exec(text)?.[1]);
      if (found !== said) throw new Error(`the image ${target} has ${found} packages; docs/deployment.md says ${said}`);
    } finally {
      await buildah.run(['rm', container]);
    }
  }
}
