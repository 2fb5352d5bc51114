// Packages that jest has to compile to CommonJS before it can load them: ESM alone, or with import() in functions.
const esmPackages = [
  ...['otplib', '@otplib', 'jose', 'uuidv7', '@scure', '@noble', '@koa', 'fast-check', 'micro-packed'],
  '@opentelemetry/otlp-exporter-base',
];
const common = {
  testEnvironment: 'node',
  transform: { '^.+\\.(t|j|mj)s$': ['@swc/jest'] },
  transformIgnorePatterns: [`/node_modules/(?!(${esmPackages.join('|')})/)`],
  modulePathIgnorePatterns: ['<rootDir>/dist', '<rootDir>/.dev', '<rootDir>/test/surfpool/validator/target'],
};
const project = (name, options = {}) => ({
  ...common,
  displayName: name,
  testMatch: [`<rootDir>/test/${name}/**/*.test.ts`],
  ...options,
});
const onStack = {
  globalSetup: '<rootDir>/test/stack/global-setup.ts',
  globalTeardown: '<rootDir>/test/stack/global-teardown.ts',
  setupFilesAfterEnv: ['<rootDir>/test/stack/timeouts.ts'],
};
const onParts = {
  globalSetup: '<rootDir>/test/stack/parts-setup.ts',
  globalTeardown: '<rootDir>/test/stack/parts-teardown.ts',
  setupFilesAfterEnv: ['<rootDir>/test/stack/parts-timeouts.ts'],
};

/** Of the tests in test/integration, those with commands of their own: `npm test` has to stay short. */
const integration = `${__dirname}/test/integration`;
const nodes = [`${integration}/{mpc/**/*,accounts/own-keys,cli/settler-keys}.test.ts`];
const contracts = [`${integration}/dev/{permit2,proxies,tokens,wallet}.test.ts`, `${integration}/chains/evm-payments.test.ts`];
const workflows = [
  // with millions of rows, which take a minute to insert
  `${integration}/following/plans.test.ts`,
  `${integration}/workflows/**/*.test.ts`,
  `${integration}/transfers/{begun-earlier,cancelled,continued,estimates,explained,families,first-attempt,later-attempts,refused-sends,reopened,signing-nodes,toy-chain*,versions,workflow}.test.ts`,
  `${integration}/{bitcoin/{many,workflow},tron/{many,refused,workflow},solana/{identical,many,workflow},screening/transfers,webhooks/workflow,x402/{workflow,approval-workflow,continued-workflow,sign-workflow,solana-sign-workflow,solana-workflow,unpaid-workflow}}.test.ts`,
];
/** Of the tests in test/e2e, the ones of x402 that take minutes. */
const payments = [`${__dirname}/test/e2e/{official*,settle,sign,sponsoring}.test.ts`];
const except = (patterns) => patterns.map((pattern) => `!${pattern}`);

module.exports = {
  reporters: ['default', '<rootDir>/test/stack/counts-reporter.cjs'],
  projects: [
    project('unit', {
      globalSetup: '<rootDir>/test/stack/prepare-compose-loader.ts',
      setupFilesAfterEnv: ['<rootDir>/test/stack/parts-timeouts.ts'],
    }),
    project('integration', {
      ...onParts,
      testMatch: [`${integration}/**/*.test.ts`, ...except([...nodes, ...contracts, ...workflows])],
    }),
    project('nodes', { ...onParts, testMatch: nodes }),
    project('contracts', { ...onParts, testMatch: contracts }),
    project('workflows', { ...onParts, testMatch: workflows }),
    project('e2e', { ...onStack, testMatch: ['<rootDir>/test/e2e/**/*.test.ts', ...except(payments)] }),
    project('payments', { ...onStack, testMatch: payments }),
    project('replay'),
    // real test networks: by `npm run test:live` alone
    project('live'),
    // a validator that takes minutes to build: by `npm run test:surfpool` alone
    project('surfpool', { ...onParts, globalSetup: '<rootDir>/test/surfpool/setup.ts' }),
    project('crash', onStack),
    project('adversary', onStack),
    project('bench', { ...onStack, testMatch: ['<rootDir>/test/bench/*.bench.ts'] }),
    project('bench-parts', { ...onParts, testMatch: ['<rootDir>/test/bench/parts/*.bench.ts'] }),
  ],
};
