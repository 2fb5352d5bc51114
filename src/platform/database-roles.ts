/**
 * The group roles of the gateway's processes, with the rights of migrations/0018. They cannot log in: each process has a login of its
 * own that is a member of one of them. The login that runs the migrations owns the tables and is a member of none.
 */
export const databaseRoles = ['gateway_api', 'gateway_worker', 'gateway_authoriser', 'gateway_operator'] as const;
export type DatabaseRole = (typeof databaseRoles)[number];
