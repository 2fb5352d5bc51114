import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { projectRoot } from '../../../dev/paths';
import { packagesOfImages } from './packages';

const { packages } = JSON.parse(readFileSync(path.join(projectRoot, 'package-lock.json'), 'utf8')) as {
  packages: Record<string, { version: string; dev?: boolean; optional?: boolean; link?: boolean }>;
};

describe('packages of the images', () => {
  const text = readFileSync(path.join(projectRoot, 'docs/deployment.md'), 'utf8');
  const said = Object.fromEntries(
    [...text.matchAll(/^\| `([\w-]+)` +\|[^|]*\| (\d+) +\|$/gm)].map(([, target = '', count]) => [target, Number(count)]),
  );

  it('are as many as docs/deployment.md says', async () => {
    const counts = Object.entries(await packagesOfImages()).map(([target, folders]) => [target, folders.length]);
    expect(said).toEqual(Object.fromEntries(counts));
  });

  it('are production dependencies, and those of a signing node are some of them', async () => {
    const { gateway = [], 'mpc-node': node = [] } = await packagesOfImages();
    const unwanted = gateway.filter((folder) => {
      const { dev, optional, link } = packages[folder] ?? { dev: true };
      return dev === true || optional === true || link === true;
    });
    expect(unwanted).toEqual([]);
    expect(node.filter((folder) => !gateway.includes(folder))).toEqual([]);
  });

  it('are those of the bill of materials of `gateway`', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'sbom-'));
    try {
      const env = { ...process.env, npm_config_offline: 'true' };
      execFileSync(process.execPath, [path.join(projectRoot, 'scripts/sbom.mjs'), folder], { env, stdio: 'pipe' });
      const { components } = JSON.parse(readFileSync(path.join(folder, 'gateway.cdx.json'), 'utf8')) as {
        components: { name: string; version: string }[];
      };
      const { gateway = [] } = await packagesOfImages();
      const toName = (at: string) => `${at.replace(/^.*node_modules\//, '')}@${packages[at]?.version}`;
      // it has a package once, however often it is installed
      expect(components.map(({ name, version }) => `${name}@${version}`).sort()).toEqual(
        [...new Set(gateway.map(toName))].sort(),
      );
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
