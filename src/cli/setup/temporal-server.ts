/** Where the container of the server finds its files. */
const folder = '/run/secrets';

/** Of the certificate that the frontend shows, and of the one that the services of the server show each other. */
export const temporalServerName = 'temporal';
export const internodeServerName = 'temporal-internode';

const database = (name: string, password: string, connections: number): string => `
    ${name}:
      sql:
        pluginName: postgres12
        databaseName: ${name}
        connectAddr: postgres:5432
        connectProtocol: tcp
        user: temporal
        password: ${password}
        maxConns: ${connections}
        maxIdleConns: ${connections}
        maxConnLifetime: 1h`;

const service = (name: string, ports: { grpc: number; membership: number }, ip: string): string => `
  ${name}:
    rpc: { grpcPort: ${ports.grpc}, membershipPort: ${ports.membership}, bindOnIP: ${ip} }`;

/**
 * Configuration of a Temporal server (https://docs.temporal.io/references/configuration) whose four services run in one process, on
 * Postgres, and accept clients with a certificate of the authority `ca.pem` alone. Only the frontend is reachable from outside.
 */
export const temporalServerConfig = (password: string): string => `# Made once by \`gateway setup files\`.
log: { stdout: true, level: warn }
persistence:
  numHistoryShards: 16
  defaultStore: temporal
  visibilityStore: temporal_visibility
  datastores:${database('temporal', password, 20)}${database('temporal_visibility', password, 10)}
global:
  membership: { maxJoinDuration: 30s, broadcastAddress: 127.0.0.1 }
  tls:
    internode:
      server:
        certFile: ${folder}/internode_cert
        keyFile: ${folder}/internode_key
        requireClientAuth: true
        clientCaFiles: [${folder}/internode_ca]
      client: { serverName: ${internodeServerName}, rootCaFiles: [${folder}/internode_ca] }
    frontend:
      server:
        certFile: ${folder}/server_cert
        keyFile: ${folder}/server_key
        requireClientAuth: true
        clientCaFiles: [${folder}/temporal_ca]
      client: { serverName: ${temporalServerName}, rootCaFiles: [${folder}/temporal_ca] }
    systemWorker:
      certFile: ${folder}/system_worker_cert
      keyFile: ${folder}/system_worker_key
      client: { serverName: ${temporalServerName}, rootCaFiles: [${folder}/temporal_ca] }
services:${service('frontend', { grpc: 7233, membership: 6933 }, '0.0.0.0')}${service('history', { grpc: 7234, membership: 6934 }, '127.0.0.1')}${service('matching', { grpc: 7235, membership: 6935 }, '127.0.0.1')}${service('worker', { grpc: 7239, membership: 6939 }, '127.0.0.1')}
clusterMetadata:
  enableGlobalNamespace: false
  failoverVersionIncrement: 10
  masterClusterName: active
  currentClusterName: active
  clusterInformation:
    active: { enabled: true, initialFailoverVersion: 1, rpcName: frontend, rpcAddress: 127.0.0.1:7233 }
dcRedirectionPolicy: { policy: noop }
archival:
  history: { state: disabled, enableRead: false }
  visibility: { state: disabled, enableRead: false }
namespaceDefaults:
  archival:
    history: { state: disabled }
    visibility: { state: disabled }
`;
