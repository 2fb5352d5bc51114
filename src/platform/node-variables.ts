import Joi from 'joi';
import { port, secretText, variable } from './variable';

/** Of signing nodes. */
export const nodeVariables = {
  MPC_NODE_INDEX: variable(
    'mpc-node',
    Joi.number<1 | 2 | 3>().valid(1, 2, 3).required(),
    'Which of the three parties this node is: 1, 2 or 3.',
  ),
  MPC_NODE_DATABASE_URL: variable(
    'mpc-node',
    Joi.string()
      .uri({ scheme: ['postgres', 'postgresql'] })
      .required(),
    "This node's own database, with a role of its own.",
    true,
  ),
  MPC_NODE_LISTEN_HOST: variable('mpc-node', Joi.string().default('127.0.0.1'), 'Address the node listens on for its peers.'),
  MPC_NODE_LISTEN_PORT: variable('mpc-node', port().required(), 'Port the node listens on for its peers (mutual TLS).'),
  MPC_NODE_PEERS: variable(
    'mpc-node',
    Joi.string()
      .pattern(/^[123]=https:\/\/[^,]+,[123]=https:\/\/[^,]+$/)
      .required(),
    'The two other nodes: 2=https://host:port,3=https://host:port.',
  ),
  MPC_NODE_TLS_KEY: variable('mpc-node', secretText().required(), "PEM private key (EC P-256) of this node's certificate.", true),
  MPC_NODE_TLS_CERT: variable(
    'mpc-node',
    secretText().required(),
    'PEM certificate of this node, common name mpc-node-<index>.',
    true,
  ),
  MPC_NODE_TLS_CA: variable('mpc-node', secretText().required(), 'PEM certificate of the authority that signed all three.', true),
  MPC_NODE_KEK: variable(
    'mpc-node',
    Joi.string()
      .pattern(/^\s*[0-9a-fA-F]{64}(\s*,\s*[0-9a-fA-F]{64})*\s*$/)
      .required(),
    'Key-encryption key of the share store: 32 bytes in hex. To replace it, put the new key first and the old one after a comma (docs/keys.md).',
    true,
  ),
  MPC_NODE_JOURNAL_MARK: variable(
    'mpc-node',
    Joi.string().required(),
    'Path of a file that the node writes: what its database must at least contain. On another disk than the database, never restored from a backup.',
  ),
  MPC_NODE_LIMITS: variable(
    'mpc-node',
    Joi.string(),
    "Path of a JSON file with this node's own limits (docs/signing-nodes.md); without it there are none.",
  ),
  MPC_NODE_ORDER_KEYS: variable(
    'mpc-node',
    secretText().required(),
    "JWKS of the authoriser's public keys (Ed25519), 1 to 10: orders signed by other keys are refused.",
    true,
  ),
  MPC_NODE_DEPLOYMENT: variable(
    'mpc-node',
    Joi.string().min(1).max(100).required(),
    'DEPLOYMENT_ID of the authoriser whose orders this node takes. MPC_NODE_DEPLOYMENT_FILE may name its file.',
    false,
    true,
  ),
} as const;
