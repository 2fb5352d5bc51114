/** Where a test shows a point: a file of test/ and words in the title of one of its tests, after those of its groups. */
type Shown = readonly [file: string, title: string];

const worker = 'adversary/worker.test.ts';
const workerDigests = 'adversary/worker-digests.test.ts';
const api = 'adversary/api.test.ts';
const authoriser = 'adversary/authoriser.test.ts';
const ofHouse = 'unit/mpc-node/verify-settlement.test.ts';
const login = 'adversary/authoriser-login.test.ts';
const inserted = 'integration/transfers/inserted-attempts.test.ts';
const database = 'adversary/gateway-database.test.ts';
const node = 'adversary/one-signing-node.test.ts';
const toAuthoriser = 'adversary/temporal-authoriser.test.ts';
const toNodes = 'adversary/temporal-nodes.test.ts';
const toWorker = 'adversary/temporal-worker.test.ts';
const numbers = 'integration/transfers/order-numbers.test.ts';
const shares: Shown = ['adversary/other-shares.test.ts', 'its database refuses every other login'];

/** The points of SECURITY.md's lists, each by its first words, and the tests that show them; none: nothing shows it. */
export const points: Record<string, Record<string, readonly Shown[]>> = {
  'One signing node: can': {
    'refuse or disturb signing': [[node, 'can refuse everything']],
    'keep every new wallet': [['integration/http/wallet-limits.test.ts', 'are limited in total']],
    'violate the protocol once': [[node, 'can violate the protocol once for each peer']],
    'withhold its last message': [[node, 'can withhold its last message']],
    'fill its peers': [[node, 'can fill its peers’ journals']],
  },
  'One signing node: cannot': {
    'sign alone': [['adversary/two-signing-nodes.test.ts', 'one of them cannot']],
    'learn another share': [shares, ['adversary/other-shares.test.ts', 'no path that gives a share']],
    'have anything signed': [[node, 'cannot have anything signed without an order']],
  },
  'Temporal: can': {
    delay: [['crash/faults.test.ts', 'Temporal killed']],
    'begin earlier': [[toAuthoriser, 'can begin earlier what is due']],
    'have the same bytes signed twice': [[toNodes, 'can have the same bytes signed twice']],
    'prepare a transfer badly': [
      [toWorker, 'can prepare a transfer with too little gas'],
      [toAuthoriser, 'no fee far above the usual'],
    ],
    'park a transfer': [[toWorker, 'can park a transfer']],
    'end a transfer before': [[toWorker, 'can end a transfer of which nothing is signed by a fee']],
    'give a wallet': [[toAuthoriser, 'can ask for a key of its own for a wallet that has none']],
  },
  'Temporal: cannot': {
    'have anything signed': [[toNodes, 'cannot have anything signed that the authoriser has not ordered']],
    'change what is ordered': [[toNodes, 'cannot change what is ordered']],
    'choose a nonce': [
      [toAuthoriser, 'the authoriser takes the next nonce'],
      ['integration/transfers/reconcile.test.ts', 'neither burns nor leaves out a nonce'],
    ],
    'end a transfer': [
      [toWorker, 'cannot end a transfer that nothing has refused'],
      [toWorker, 'cannot end a transfer whose signing has begun'],
    ],
    'cancel without': [[toAuthoriser, 'cannot cancel without a reason on record']],
  },
  'Worker: can': {
    delay: [['crash/faults.test.ts', 'while worker and API are down']],
    'report false fees': [
      [worker, 'can report false fees'],
      ['integration/x402/sign.test.ts', 'can be open for up to a minute longer than was asked for'],
      [worker, 'report a false inclusion'],
      [worker, 'freeze assets'],
      [worker, 'can credit a deposit that does not exist'],
      [worker, 'can adjust a balance falsely'],
    ],
    'give a wallet': [[worker, 'can give a wallet that has no key yet a key of its own']],
    'abandon a transfer': [
      [worker, 'can abandon what an operator has requested'],
      ['integration/transfers/refusals.test.ts', 'ends with an operator’s request that knows the newest attempt'],
      ['integration/following/executed-after-proof.test.ts', 'a transfer that failed by proof and is executed all the same'],
    ],
    'end a transfer before': [[worker, 'can end a transfer before anything of it is signed']],
    'end a transfer’s wait': [[worker, 'cannot approve by the state of a transfer']],
    'open the webhook secrets': [[worker, 'read the sealed webhook secrets']],
  },
  'Worker: cannot': {
    'sign an order': [[worker, 'it has neither the order key']],
    'learn a share': [shares],
    'have digests signed': [
      [workerDigests, 'refuse a digest in the place of bytes'],
      [workerDigests, 'refuse an order over digests that the worker makes'],
      [workerDigests, 'takes no digests beside its order and bytes'],
    ],
    'insert an attempt': [
      [worker, 'insert an attempt'],
      [worker, 'insert a reservation'],
      [worker, 'insert an order'],
    ],
    'change a destination': [
      [worker, 'change a destination'],
      [worker, 'change an amount'],
      [worker, 'change an address'],
      [worker, 'change a key that is in use'],
    ],
    approve: [[worker, 'with its login it cannot approve']],
    'change lists': [
      [worker, 'change lists'],
      [worker, 'change limits'],
      [worker, 'change policies'],
      [toAuthoriser, 'cannot change the nodes’ blacklists'],
    ],
    'read API keys': [
      [worker, 'read API keys'],
      [worker, 'read TOTP secrets'],
    ],
    'remove an audit row': [[worker, 'remove an audit row']],
    'refuse in the name': [
      [worker, 'refuse in the name of a node'],
      [worker, 'refuse in the name of the authoriser'],
      [worker, 'give up for a list'],
    ],
  },
  'API: can': {
    'start transfers': [
      [api, 'can start a transfer in the name of a user'],
      [api, 'can approve in the name of a user'],
      [api, 'add an address to a list'],
    ],
    'show false addresses': [[api, 'can store an address of its own for a new account']],
    'open the secrets': [[api, 'can open the secrets in the database']],
    'have the house pay': [
      ['integration/x402/stored-settlement.test.ts', 'that the house does not pay for is refused'],
      ['integration/x402/settlements.test.ts', 'is confirmed by the API at once, without a transaction of the chain'],
      ['integration/x402/settlements.test.ts', 'keeps nobody but its own client from having the payment settled'],
    ],
  },
  'API: cannot': {
    'sign an order': [[api, 'it has neither the order key']],
    'learn a share': [shares],
    'begin signing': [[api, 'begin signing']],
    'credit a balance': [[api, 'credit a balance']],
    'change a limit': [
      [api, 'change a limit'],
      [api, 'change a policy'],
      [api, 'change a user'],
      [api, 'change an API key'],
      [api, 'change a stored amount'],
      [api, 'change a stored destination'],
      [api, 'change a stored address'],
    ],
    'remove an audit row': [[api, 'remove an audit row']],
  },
  'Authoriser: can': {
    'order anything': [
      [authoriser, 'can order what the limits of the nodes allow'],
      [authoriser, 'cannot order a fee above'],
    ],
  },
  'Authoriser: cannot': {
    'learn a share': [shares],
    'have digests signed': [[authoriser, 'cannot have digests signed']],
    'use a key for another client': [[authoriser, 'cannot use a key for another client']],
    'have a client’s key settle': [
      [authoriser, 'cannot have a key of a client settle what somebody else has authorised'],
      [ofHouse, "the house's transfer of tokens"],
      [ofHouse, "the house's replacement that pays tokens"],
      [ofHouse, 'the house, whose fees are counted'],
    ],
    'have other bytes signed': [[authoriser, 'cannot have other bytes signed for an attempt']],
    'have one Bitcoin transaction': [
      ['integration/mpc/admission.test.ts', 'is admitted with one set of them, whatever the transaction'],
    ],
    'have a later attempt': [[authoriser, 'cannot have a later attempt signed']],
    'approve, accept or end': [
      [authoriser, 'cannot approve in the database'],
      [authoriser, 'accept or change a transfer'],
      [authoriser, 'end a transfer'],
    ],
    'credit a balance': [[authoriser, 'credit a balance']],
  },
  'The authoriser’s login without its key: can': {
    'have ordered what the API': [[inserted, 'can choose the number of a first attempt']],
    'have a fee ordered': [[inserted, 'up to the cap of the chain']],
    'keep transfers from': [[login, 'cannot have a transfer cancelled']],
    'say that a restored': [[inserted, 'can say that the database was compared']],
  },
  'The authoriser’s login without its key: cannot': {
    'sign an order': [[database, 'that is inserted into the database is signed by nobody']],
    'have anything ordered': [
      [inserted, 'a transfer of its own is not accepted'],
      [inserted, 'a first attempt that it begins is not ordered'],
    ],
    'have a transfer cancelled': [
      [login, 'cannot have a transfer cancelled'],
      [inserted, 'is ordered for no reason that is not on record'],
      [inserted, 'is not made good by what it writes itself'],
      [inserted, 'is not made good by a request that was withdrawn'],
    ],
    'have a fee ordered': [
      [inserted, 'above the absolute cap of the chain'],
      [inserted, 'above what is locked for it'],
      [inserted, 'as less than the bytes may cost'],
    ],
    'have a second payment': [
      [inserted, 'a second attempt of kind first is not ordered'],
      [inserted, 'a second attempt of kind reissue is not ordered'],
      [inserted, 'a replacement after five others is not ordered'],
    ],
  },
  'Gateway database, its owner or an administrator: can': {
    'change balances': [
      [database, 'can change intents only by switching off rules'],
      [database, 'can change policies'],
      [database, 'can change blacklists'],
    ],
    'add users': [[database, 'can add a user with an API key']],
    'set the running number': [
      [numbers, 'far below the present ones: the lost order is not found'],
      [numbers, 'far above the present ones: an order that had its number before'],
    ],
    'switch off the rules': [[database, 'cannot change the audit log unnoticed']],
  },
  'Gateway database, its owner or an administrator: cannot': {
    'obtain shares': [shares],
    sign: [['adversary/other-shares.test.ts', 'nor does it show the key that signs orders']],
    'have other bytes signed': [[database, 'cannot have anything else signed once an attempt has begun']],
    'have an order signed': [[database, 'that is inserted into the database is signed by nobody']],
    'open TOTP': [
      [database, 'cannot open TOTP secrets'],
      [database, 'cannot open webhook secrets'],
    ],
    'have the API show': [
      ['adversary/rewritten-addresses.test.ts', 'a rewritten accounts.address is neither shown nor used'],
      ['adversary/rewritten-addresses.test.ts', 'a rewritten public key'],
    ],
    'have a webhook show': [['integration/webhooks/attested.test.ts', 'the address of an event that was rewritten is not sent']],
  },
  'Two signing nodes: can': { 'sign anything': [['adversary/two-signing-nodes.test.ts', 'can sign anything']] },
};
