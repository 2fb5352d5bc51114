import { readFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../../../dev/paths';
import { startOrder } from '../../deploy/order';
import type { Service } from './compose-file';
import { readVariables, resolveCompose } from './resolve';

const tryVariables = readVariables(readFileSync(path.join(projectRoot, 'try.env'), 'utf8'));

describe('the compose file with its variables replaced', () => {
  it('has defaults, given values, values in defaults, and dollar signs for shells', () => {
    const byDefault = resolveCompose({ USER: 'ada' }).services;
    expect(byDefault.api?.image).toBe('custody-gateway:local');
    expect(byDefault.gateway?.environment?.GATEWAY_OPERATOR).toBe('ada');
    expect(byDefault['temporal-schema']?.command?.[0]).toContain('export SQL_PASSWORD="$(cat /run/secrets/password)"');
    const given = resolveCompose({ GATEWAY_VERSION: '1.2.3', GATEWAY_OPERATOR: 'grace', USER: 'ada' }).services;
    expect(given.api?.image).toBe('custody-gateway:1.2.3');
    expect(given.gateway?.environment?.GATEWAY_OPERATOR).toBe('grace');
  });
});

describe('the order of start', () => {
  const names = startOrder(resolveCompose(tryVariables).services, ['try']);

  it('has what the profiles name, and each service after those that it waits for', () => {
    expect(names).toEqual(expect.arrayContaining(['chain-ethereum', 'first-client', 'api']));
    expect(names).not.toContain('faucet');
    expect(names).not.toContain('gateway');
    expect(startOrder(resolveCompose({}).services, [])).not.toContain('first-client');
    const before = (first: string, second: string) => expect(names.indexOf(first)).toBeLessThan(names.indexOf(second));
    before('setup', 'postgres');
    before('postgres', 'databases');
    before('temporal', 'temporal-setup');
    before('temporal-setup', 'mpc-node-1');
  });

  it('is refused where services wait for each other', () => {
    const waitingFor = (other: string) => ({ depends_on: { [other]: { condition: 'service_healthy' } } }) as unknown as Service;
    expect(() => startOrder({ a: waitingFor('b'), b: waitingFor('a') }, [])).toThrow('a waits for itself');
  });
});
