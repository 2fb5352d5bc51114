import prettier from 'eslint-config-prettier';
import tseslint from 'typescript-eslint';

// in texts, types and keys; not in names and comments, and not within longer words
const familyWords =
  '/(?<![a-z])(evm|(erc|eip|bep|trc)-?[0-9]+|permit2|nonces?|gas ?(price|limit)|g?wei|utxos?|psbt|satoshis?|solana|tron|bitcoin)(?![a-z])/i';
const familyMessage = 'Knowledge of a family belongs in src/chains/<family>, behind the interfaces of src/chains/family.ts.';

export default tseslint.config(
  { ignores: ['**/dist/', '.dev/', 'native/threshold/wasm/', '**/target/', 'coverage/', '**/.venv/', 'client/src/generated.ts'] },
  ...tseslint.configs.recommendedTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['*.mjs', '*.cjs', 'scripts/*.mjs', 'bin/*.js'] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { disallowTypeAnnotations: false }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      'no-console': 'error',
      eqeqeq: 'error',
      'max-lines': ['error', { max: 250, skipBlankLines: true, skipComments: true }],
    },
  },
  {
    files: ['src/processes/**', 'src/cli/**', 'dev/**', 'scripts/**', 'bin/**', 'test/deploy/**', '**/*.mjs', '**/*.cjs'],
    rules: { 'no-console': 'off' },
  },
  { files: ['**/*.mjs', '**/*.cjs', '**/*.js'], extends: [tseslint.configs.disableTypeChecked] },
  {
    files: ['src/**', 'workflows/**', 'activities/**'],
    // the protocol of x402 and the registry are about one family; types and table of families name it; a command of operators has its name
    ignores: ['src/x402/**', 'src/chains/**', 'src/cli/outputs.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        { selector: `Literal[value=${familyWords}]`, message: familyMessage },
        { selector: `TemplateElement[value.raw=${familyWords}]`, message: familyMessage },
      ],
    },
  },
  { files: ['test/**', 'migrations/**', 'src/chains/registry/data.ts'], rules: { 'max-lines': 'off' } },
  {
    // supertest-like access to JSON answers; strictness pays in the product, not in assertions on parsed bodies
    files: ['test/**'],
    rules: {
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/no-unsafe-member-access': 'off',
      '@typescript-eslint/no-unsafe-argument': 'off',
      '@typescript-eslint/no-unsafe-return': 'off',
      '@typescript-eslint/no-unsafe-call': 'off',
    },
  },
  prettier,
);
