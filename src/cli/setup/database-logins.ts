import { nodeIndexes } from '../../messages/nodes';
import type { DatabaseRole } from '../../platform/database-roles';

interface DatabaseLogin {
  login: string;
  database: string;
  /** Its process's folder, and the name of its file in the folder of the databases. */
  folder: string;
  file: string;
  /** The role it is a member of; null: it owns the database. */
  role: DatabaseRole | null;
}

const gateway = 'gateway';
const member = (folder: string, role: DatabaseRole): DatabaseLogin => ({
  login: `${role}_login`,
  database: gateway,
  folder,
  file: `${folder}_url`,
  role,
});

/** The superuser of the image. */
export const superuserLogin = 'postgres';

/** Of the gateway: the owner of the schema first, since the others need its database. Then each signing node's own database. */
export const databaseLogins: readonly DatabaseLogin[] = [
  { login: 'gateway_owner', database: gateway, folder: 'migrate', file: 'migrate_url', role: null },
  member('api', 'gateway_api'),
  member('worker', 'gateway_worker'),
  member('authoriser', 'gateway_authoriser'),
  member('operator', 'gateway_operator'),
  ...nodeIndexes.map((index) => ({
    login: `gateway_mpc_${index}`,
    database: `gateway_mpc_${index}`,
    folder: `mpc-node-${index}`,
    file: `mpc-node-${index}_url`,
    role: null,
  })),
];

/** Temporal's server owns two databases; the file has its password alone. */
export const temporalLogin = {
  login: 'temporal',
  databases: ['temporal', 'temporal_visibility'],
  file: 'temporal_password',
} as const;
