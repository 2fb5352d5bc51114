import type { Service } from '../unit/deploy/compose-file';

/**
 * The services that `docker compose up` starts, each after those that it waits for.
 * @param profiles names of COMPOSE_PROFILES
 */
export function startOrder(services: Readonly<Record<string, Service>>, profiles: readonly string[]): string[] {
  const active = Object.keys(services).filter((name) => {
    const own = services[name]?.profiles;
    return own === undefined || own.some((profile) => profiles.includes(profile));
  });
  const order: string[] = [];
  const visit = (name: string, above: readonly string[]): void => {
    if (above.includes(name)) throw new Error(`docker-compose.yml: ${name} waits for itself`);
    if (order.includes(name)) return;
    for (const other of Object.keys(services[name]?.depends_on ?? {})) visit(other, [...above, name]);
    order.push(name);
  };
  for (const name of active) visit(name, []);
  return order;
}

export const isJob = ({ restart }: Service): boolean => restart === 'no';
