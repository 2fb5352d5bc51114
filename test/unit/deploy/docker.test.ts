import { parseDocker } from '../../deploy/docker';

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

  it('stops, starts and replaces the services that are named', () => {
    expect(of('compose stop api worker')).toEqual({ act: 'stop', services: ['api', 'worker'] });
    expect(of('compose up -d --no-deps --wait temporal')).toEqual({ act: 'up', services: ['temporal'] });
  });

  it.each([
    'compose up -d',
    'compose up',
    'compose up -d api',
    'compose run --privileged api',
    'compose down -v api',
    'run image',
    'compose stop',
  ])('refuses %s', (line) => expect(() => of(line)).toThrow(/is not known here|names no service/));
});
