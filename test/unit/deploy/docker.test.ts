import { spawnSync } from 'node:child_process';
import { parseDocker } from '../../deploy/docker';
import { shellBlocks } from '../documents/shell-blocks';

/** What the program `docker` of `npm run test:deploy` makes of a command line. */
describe('docker compose', () => {
  const of = (line: string) => parseDocker(line.split(' '));

  it('runs words in a container, after what it begins with or in its place', () => {
    expect(of('compose run --rm gateway transfers list')).toEqual({
      ...{ act: 'run', service: 'gateway', words: ['transfers', 'list'], entrypoint: null, binds: [] },
    });
    expect(of('compose run --rm --no-deps -T --entrypoint sh setup -c true')).toMatchObject({
      ...{ service: 'setup', entrypoint: ['sh'], words: ['-c', 'true'] },
    });
    expect(of('compose run --rm -v /a/new:/new gateway keys rotate order /new')).toMatchObject({ binds: ['/a/new:/new'] });
    expect(of('compose exec -T postgres sh -c true')).toMatchObject({ act: 'exec', service: 'postgres' });
  });

  it('has the variables of try.env, and of no other file', () => {
    expect(of('compose --env-file try.env run --rm -T first-client')).toMatchObject({
      act: 'run',
      service: 'first-client',
      words: [],
    });
    expect(() => of('compose --env-file other.env run first-client')).toThrow('is not known here');
  });

  it('stops, starts and replaces the services that are named', () => {
    expect(of('compose stop api worker')).toEqual({ act: 'stop', services: ['api', 'worker'] });
    expect(of('compose up -d --no-deps --wait temporal')).toEqual({ act: 'up', services: ['temporal'], waits: true });
    expect(of('compose up -d --no-deps api')).toEqual({ act: 'up', services: ['api'], waits: false });
  });

  it.each([
    'compose up -d',
    'compose up',
    'compose up -d api',
    'compose up -d --wait api',
    'compose start api',
    'compose run --privileged api',
    'compose down -v api',
    'run image',
    'compose stop',
  ])('refuses %s', (line) => expect(() => of(line)).toThrow(/is not known here|names no service/));
});

describe("the first lines of README.md's first transfer with Docker", () => {
  const start = shellBlocks('README.md')
    .find(({ who }) => who === 'docker')
    ?.code.split('\n')[0];
  /** @param engine what stands in place of `docker` */
  const run = (engine: string) =>
    spawnSync('bash', ['-c', `docker() { ${engine}; }\n${start} || exit 3\necho "$base $key"`], { encoding: 'utf8' });

  it('have what the first client has printed, and fail where there is no engine or no client', () => {
    expect(run('printf "base=http://127.0.0.1:8080\\nkey=one\\n"')).toMatchObject({
      status: 0,
      stdout: 'http://127.0.0.1:8080 one\n',
    });
    expect(run('echo base=half; return 1')).toMatchObject({ status: 3, stdout: '' });
  });
});
