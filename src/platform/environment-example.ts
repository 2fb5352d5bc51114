import { variables } from './variables';

/** Text of `.env.example`. */
export function environmentExample(): string {
  const lines = ['# Every variable of every process. Secrets can come from files: NAME_FILE=/path instead of NAME=value.'];
  let group = '';
  for (const [name, { doc, group: of, secret, schema }] of Object.entries(variables)) {
    if (of !== group) lines.push('', `## ${of}`);
    group = of;
    const described = schema.describe() as { flags?: { default?: string | number | boolean; presence?: string } };
    const required = described.flags?.presence === 'required';
    lines.push(`# ${doc}${secret ? ' Secret.' : ''}${required ? ' Required.' : ''}`);
    lines.push(`${required ? '' : '#'}${name}=${String(described.flags?.default ?? '')}`);
  }
  lines.push(
    '',
    '## chains (api, worker, mpc-node)',
    '# RPC endpoints of each enabled chain, separated by commas; the first that answers is used. With several, two have to show a block before',
    '# anything in it is credited or settled: name one or three, so that one may be out (docs/chains.md). Required per chain.',
    'CHAIN_ETHEREUM_RPC_URLS=',
    '# A signing node (mpc-node) takes those of chains on which attempts expire (docs/signing-nodes.md, “Reissues”): endpoints that its',
    '# operator trusts, and that neither the gateway nor the other nodes use. Without them it signs no reissue.',
    '',
    '## Temporal (api, worker, authoriser, mpc-node, cli): read by the SDK. Use mutual TLS or an API key unless all processes run on one machine',
    'TEMPORAL_ADDRESS=127.0.0.1:7233',
    '#TEMPORAL_NAMESPACE=default',
    '# PEM files: certificate and key of this process, and the certificate authority of the server.',
    '#TEMPORAL_TLS_CLIENT_CERT_PATH=',
    '#TEMPORAL_TLS_CLIENT_KEY_PATH=',
    '#TEMPORAL_TLS_SERVER_CA_CERT_PATH=',
    '#TEMPORAL_TLS_SERVER_NAME=',
    '# Implies TLS. Secret.',
    '#TEMPORAL_API_KEY=',
  );
  return `${lines.join('\n')}\n`;
}
