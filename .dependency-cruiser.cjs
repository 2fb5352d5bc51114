/** Imports point one way: main → resources → http, ledger, chains, mpc → platform. Workflows import pure code only. */
const resources =
  '^src/(auth|wallets|accounts|assets|transfers|transactions|deposits|screening|following|health|operations|audit|mfa|security-factors|webhooks)/';
const foundations = '^src/(ledger|chains|mpc)/';
/** Pure types and data that every layer may read. */
const pure = ['^src/platform/', '^src/chains/types', '^src/mpc/messages', '^activities/types', '^workflows/messages'];

module.exports = {
  forbidden: [
    {
      name: 'no-circular',
      severity: 'error',
      from: {},
      to: { circular: true, dependencyTypesNot: ['type-only'], viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'platform-knows-nothing',
      severity: 'error',
      from: { path: '^src/platform/' },
      to: { path: '^(src/(?!platform/)|workflows/|activities/)' },
    },
    {
      name: 'foundations-know-no-resource',
      severity: 'error',
      from: { path: foundations },
      to: { path: [resources, '^src/(http|main)/', '^activities/'], pathNot: [...pure, '/entity\\.ts$'] },
    },
    { name: 'resources-know-no-main', severity: 'error', from: { path: resources }, to: { path: '^src/main/' } },
    { name: 'http-knows-no-resource', severity: 'error', from: { path: '^src/http/' }, to: { path: [resources, '^src/main/'] } },
    {
      name: 'workflows-are-pure',
      comment: 'deterministic: no I/O, no validation library, no chain SDK',
      severity: 'error',
      from: { path: '^workflows/' },
      to: {
        path: '^(src|activities|node_modules)/',
        pathNot: ['^src/platform/codes', ...pure.slice(1), '^node_modules/@temporalio/(workflow|common)'],
      },
    },
    { name: 'activities-are-thin', severity: 'error', from: { path: '^activities/' }, to: { path: '^src/(http|main)/' } },
    {
      name: 'not-to-dev-dep',
      severity: 'error',
      from: { path: '^(src|workflows|activities)/' },
      to: { dependencyTypes: ['npm-dev'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsConfig: { fileName: 'tsconfig.json' },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: { extensions: ['.ts', '.js', '.json'] },
  },
};
