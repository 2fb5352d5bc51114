/**
 * Floors, from the top: dev → processes, cli → activities → tables of resources → resources → http, ledger, chains, mpc, audit, outbox, orders → messages → platform, chains/types.
 * One rule a floor: what stands on it imports its own floor and those below. Workflows stand beside activities, on messages alone.
 */
const processes = 'src/(processes|cli)/';
const activities = '(activities|workflows)/';
/** What has one line a resource: the entities, and the types of transactions that are signed. */
const tables = 'src/(entities|signed-types)';
const resources =
  'src/(auth|wallets|accounts|assets|transfers|transactions|deposits|screening|following|health|monitoring|mfa|security-factors|settlers|consolidations|webhooks|x402)/';
const foundations = 'src/(http|ledger|chains/(?!types)|mpc|audit|outbox|orders)/?';
const messages = 'src/messages/';
/** Every folder of chains/ but the registry is a family. */
const family = 'src/chains/(?!registry/)([^/]+)/';
const above = (...floors) => `^(${floors.join('|')})`;

module.exports = {
  forbidden: [
    { name: 'no-circle-of-files', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'platform-and-types-import-nothing-above',
      severity: 'error',
      from: { path: '^(src/platform/|src/chains/types|migrations/)' },
      to: { path: above('dev/', processes, activities, tables, resources, foundations, messages) },
    },
    {
      name: 'messages-import-platform-and-types',
      severity: 'error',
      from: { path: above(messages) },
      to: { path: above('dev/', processes, activities, tables, resources, foundations, 'migrations/') },
    },
    {
      name: 'messages-are-types-and-constants',
      comment: 'workflows load them: nothing of Node, and of the packages Temporal alone',
      severity: 'error',
      from: { path: above(messages) },
      to: { dependencyTypes: ['core', 'npm'], pathNot: '^node_modules/@temporalio/(workflow|common)/' },
    },
    {
      name: 'foundations-know-no-resource',
      severity: 'error',
      from: { path: above(foundations) },
      to: { path: above('dev/', processes, activities, tables, resources, 'migrations/') },
    },
    {
      name: 'resources-know-no-table-and-no-process',
      severity: 'error',
      from: { path: above(resources) },
      to: { path: above('dev/', processes, activities, tables, 'migrations/') },
    },
    {
      name: 'tables-know-no-process',
      severity: 'error',
      from: { path: above(tables) },
      to: { path: above('dev/', processes, activities, 'migrations/') },
    },
    {
      name: 'transfers-do-not-know-types',
      comment: 'what differs between the types that are signed stands in src/signed-types.ts',
      severity: 'error',
      from: { path: '^src/transfers/' },
      to: { path: '^src/x402/' },
    },
    {
      name: 'records-do-not-know-transfers',
      comment: 'transactions/ is the record, transfers/ what happens to it',
      severity: 'error',
      from: { path: '^src/(transactions|deposits|following|screening)/' },
      to: { path: '^src/transfers/' },
    },
    {
      name: 'activities-are-thin',
      comment: 'read the input, call src/, map errors; a database is passed on, never queried',
      severity: 'error',
      from: { path: '^activities/' },
      to: { path: [above('dev/', processes), '^src/http/', '^workflows/', '^node_modules/pg/'] },
    },
    {
      name: 'workflows-are-deterministic',
      comment: 'no I/O, no validation library, no chain SDK: messages, codes and types alone',
      severity: 'error',
      from: { path: '^workflows/' },
      to: {
        path: '^(src|activities|dev|migrations|node_modules)/',
        pathNot: ['^src/(messages/|platform/codes|chains/types)', '^node_modules/@temporalio/(workflow|common)'],
      },
    },
    {
      name: 'product-knows-no-dev',
      severity: 'error',
      from: { path: '^(src|workflows|activities|migrations)/' },
      to: { path: '^dev/' },
    },
    {
      name: 'client-knows-nothing-else',
      comment: 'a package of its own, for those who call the API',
      severity: 'error',
      from: { path: '^client/' },
      to: { path: '^(src|workflows|activities|migrations|dev|test)/' },
    },
    {
      name: 'product-knows-no-client',
      severity: 'error',
      from: { path: '^(src|workflows|activities|migrations)/' },
      to: { path: '^client/' },
    },
    {
      name: 'families-stay-in-their-folder',
      comment: 'nothing outside src/chains/<family> and the tables of families imports one',
      severity: 'error',
      from: { path: '^(src|workflows|activities)/', pathNot: `^(${family}|src/chains/(families|clients|payment-methods))` },
      to: { path: `^${family}` },
    },
    {
      name: 'families-know-no-other-family',
      severity: 'error',
      from: { path: `^${family}` },
      to: { path: `^${family}`, pathNot: '^src/chains/$1/' },
    },
    {
      name: 'not-to-dev-dep',
      severity: 'error',
      from: { path: '^(src|workflows|activities|migrations)/' },
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
